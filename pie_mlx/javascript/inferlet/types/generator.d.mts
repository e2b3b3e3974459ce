/** @import { SampledTokens, SentForward, SentProspect } from './_calls/types.mjs' */
/** @import { ContextHandle } from './_context/handle.mjs' */
/** @import { PendingBuffer } from './_context/pending.mjs' */
/** @import { Constraints, FinishReason, GenerateOptions } from './_generation/options.mjs' */
/** @import { Others } from './_generation/others.mjs' */
/** @import { RuleUse } from './_rules/use.mjs' */
/** @import { Adapter } from './adapter.mjs' */
/** @import { PassSlots } from './output.mjs' */
/** @import { Probe } from './sampler.mjs' */
/** @import { AttachedProbe, Cut } from './step.mjs' */
/**
 * Generates on a context, from `ctx.generate()`; an async iterable of steps. It keeps its context alive.
 *
 * Each step takes the context's whole buffer as input, draws one token and puts it into the buffer.
 */
export class Generator {
    private constructor();
    /** Emit at most `n` tokens; undefined for no limit. Throws InvalidArgumentError below 0. @param {number | undefined} n */
    maxTokens(n: number | undefined): this;
    /** Expect `n` tokens; it shapes bids only. Throws InvalidArgumentError below 0. @param {number | undefined} n */
    horizon(n: number | undefined): this;
    /** Replace the stop tokens. @param {Iterable<number>} tokens */
    stop(tokens: Iterable<number>): this;
    /** Add stop tokens. @param {Iterable<number>} tokens */
    addStop(tokens: Iterable<number>): this;
    /**
     * Whether the engine renews the bid before every step; it stays that of the first step otherwise.
     * @param {boolean} enabled
     */
    rebidEachStep(enabled: boolean): this;
    /** Let the engine draft no more; a speculator of the program goes on. */
    disableSystemSpeculation(): this;
    /**
     * Add a schema, a constraint or an array of them. Right after the cue of a model that reasons before it answers,
     * schemas that are grammars begin with the answer; everything else applies at once.
     *
     * Throws InvalidTypeError for anything else, InvalidArgumentError for a constraint or a matcher that was added
     * before, GrammarError.
     * @param {Constraints} constraint
     */
    constrain(constraint: Constraints): this;
    /**
     * End the text after the token where a rule says so. Throws InvalidArgumentError if it changes logits, or one does so.
     * @param {RuleUse} rule
     */
    until(rule: RuleUse): this;
    /**
     * Compute every step with an adapter, with none for undefined. Throws InvalidTypeError for anything else.
     * @param {Adapter | undefined} adapter
     */
    adapter(adapter: Adapter | undefined): this;
    /**
     * Compute every step with the noise of a seed on the adapter; 0 and undefined are no noise.
     * @param {number | bigint | undefined} seed
     */
    zoSeed(seed: number | bigint | undefined): this;
    /**
     * Read the distribution at one input of every step: 0-based in that step's input, -1 is the last. On a step with a
     * shorter input the accessors give undefined.
     * @param {number} index
     * @param {Probe} probe
     */
    probeEachStep(index: number, probe: Probe): ProbeHandle;
    /** Tokens emitted so far, stop tokens excluded. */
    get tokensGenerated(): number;
    /**
     * Natural log-probability of what was drawn so far, the stop token included: the sum over its tokens, at temperature
     * 1 and before masks. 0 unless the sampler scores (`sampler.scored()`).
     */
    get score(): number;
    /** Draws the next token: `sampler.rule.state` has what its rule carries. */
    get sampler(): Sampler;
    /** Whether there is no further step. */
    get isDone(): boolean;
    /** Why it has ended; undefined before. @returns {FinishReason | undefined} */
    get finishReason(): FinishReason | undefined;
    /**
     * Register tokens the program chose; returns those kept after stops and limits, which enter the buffer. Throws
     * GrammarRejectedError, with nothing changed, for tokens a grammar forbids.
     * @param {Iterable<number>} tokens
     */
    accept(tokens: Iterable<number>): Uint32Array<ArrayBuffer>;
    /** Run to the end; returns all emitted tokens. */
    collectTokens(): Promise<Uint32Array<ArrayBuffer>>;
    /** Run to the end; returns the visible text, without reasoning and tool calls. */
    collectText(): Promise<string>;
    /**
     * Run to the end under a JSON Schema and read the text. `schema` is JSON text or an object; without one any JSON
     * comes. `parse` turns the value into the result. Throws StructuredOutputError, with `.text`, when the text does not
     * parse, has a number that no float holds (a grammar allows any exponent where a schema has no bounds), or `parse`
     * throws.
     * @template [T=any]
     * @param {{ schema?: string | object, parse?: (value: any) => T }} [options]
     * @returns {Promise<T>}
     */
    collectJson<T = any>({ schema, parse }?: {
        schema?: string | object;
        parse?: (value: any) => T;
    }): Promise<T>;
    /** The steps to come. */
    [Symbol.asyncIterator](): {
        next: () => Promise<IteratorResult<GenStep, undefined>>;
    };
    #private;
}
import type { Constraints } from './_generation/options.mjs';
import type { RuleUse } from './_rules/use.mjs';
import type { Adapter } from './adapter.mjs';
import type { Probe } from './sampler.mjs';
import { ProbeHandle } from './output.mjs';
import { Sampler } from './sampler.mjs';
import type { FinishReason } from './_generation/options.mjs';
import { GenStep } from './step.mjs';
import type { ContextHandle } from './_context/handle.mjs';
import type { PendingBuffer } from './_context/pending.mjs';
import { NoDrafting } from './_generation/drafting.mjs';
import type { Others } from './_generation/others.mjs';
import type { GenerateOptions } from './_generation/options.mjs';
