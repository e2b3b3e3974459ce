/** What programs import: `import { Model, Context, Sampler } from 'inferlet'`. */

export { rule } from './_rules/definition.mjs';
export { Adapter } from './adapter.mjs';
export { anyJson, ebnf, grammar, GrammarConstraint, jsonSchema, regex } from './constraint.mjs';
export { Context } from './context.mjs';
export { Forward } from './forward.mjs';
export { Generator } from './generator.mjs';
export { Grammar } from './grammar.mjs';
export { Matcher } from './matcher.mjs';
export { McpSession } from './mcp.mjs';
export { Subscription } from './messaging.mjs';
export { Model, Tokenizer } from './model.mjs';
export { Output, ProbeHandle, SampleHandle } from './output.mjs';
export {
  AttentionScores,
  Distribution,
  Entropy,
  HiddenMean,
  HiddenState,
  Logits,
  Logprob,
  Logprobs,
  Probe,
  Sampler,
} from './sampler.mjs';
export { GenStep } from './step.mjs';

export * as brle from './brle.mjs';
export * as chat from './chat.mjs';
export * as errors from './errors.mjs';
export * as mcp from './mcp.mjs';
export * as messaging from './messaging.mjs';
export * as reasoning from './reasoning.mjs';
export * as rules from './rules.mjs';
export * as runtime from './runtime.mjs';
export * as scheduling from './scheduling.mjs';
export * as session from './session.mjs';
export * as tools from './tools.mjs';
export * as zo from './zo.mjs';

/**
 * Types that programs name.
 * @typedef {import('./brle.mjs').Brle} Brle
 * @typedef {import('./constraint.mjs').Constraint} Constraint
 * @typedef {import('./constraint.mjs').Schema} Schema
 * @typedef {import('./_generation/drafting.mjs').Drafts} Drafts
 * @typedef {import('./_generation/drafting.mjs').Speculator} Speculator
 * @typedef {import('./_generation/options.mjs').GenerateOptions} GenerateOptions
 * @typedef {import('./_generation/options.mjs').FinishReason} FinishReason
 * @typedef {import('./output.mjs').Handle} Handle
 */
