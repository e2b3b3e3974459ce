/** Tool calls of replies, and the tokens that offer tools and answer calls. */

import { checkedText } from './_calls/checks.mjs';
import { freshMatcher } from './_calls/compiled_grammars.mjs';
import { callNow } from './_calls/host.mjs';
import { schemaTexts, spacedText } from './_calls/payload.mjs';
import { writeTurn } from './_context/turn_tokens.mjs';
import { QueueDecoder } from './_decoding/decoder.mjs';
import { Grammar } from './grammar.mjs';
import { Matcher } from './matcher.mjs';

/** @import { SentGrammarSource } from './_calls/types.mjs' */
/** @import { Item } from './_decoding/items.mjs' */
/** @import { Model } from './model.mjs' */

/** The description of a tool, as JSON text or an object. @typedef {string | object} ToolSchema */

/**
 * `idle`: nothing to report. `start`: a call is being written. `call`: a complete call; `args` is JSON text.
 * @typedef {{ type: 'idle' } | { type: 'start' } | { type: 'call', name: string, args: string }} Event
 */

/**
 * The tool calls of a reply. With `schemas`, calls of other tools are ignored, and untyped values get the types of the
 * schemas; a `chat.Decoder` with the same schemas gives the ignored calls as text.
 * @extends {QueueDecoder<Event>}
 */
export class Decoder extends QueueDecoder {
  /**
   * @param {Model} model
   * @param {Iterable<ToolSchema>} [schemas]
   */
  constructor(model, schemas = []) {
    super(model, schemas);
  }

  /** @override @param {Item} item @protected @internal */
  onItem(item) {
    if (item.item === 'call_start') this.queue.push({ type: 'start' });
    else if (item.item === 'call_end') {
      for (const { name, arguments: args } of item.calls) this.queue.push({ type: 'call', name, args });
    }
  }
}

/**
 * The tokens that offer tools at the beginning of a conversation, to be appended before the user's message. Throws
 * TemplateError for a model whose template knows no tools, InvalidArgumentError for bad schemas.
 * @param {Model} model
 * @param {Iterable<ToolSchema>} schemas
 */
export function equipPrefix(model, schemas) {
  return writeTurn(model, { role: 'tools', schemas: schemaTexts(schemas) }, {});
}

/**
 * The tokens of a tool's result after a sealed call; values other than strings are JSON-encoded. Throws TemplateError
 * for a model whose template knows no tool results.
 * @param {Model} model
 * @param {string} name
 * @param {unknown} value
 */
export function answerPrefix(model, name, value) {
  const text = spacedText('tool result', value);
  return writeTurn(model, { role: 'tool_result', text, name: checkedText(name, 'tool') }, { last: 'flush' });
}

/**
 * The first call in a finished text: name and arguments as JSON text; undefined when there is none.
 * @param {Model} model
 * @param {string} text
 * @param {Iterable<ToolSchema>} [schemas]
 * @returns {{ name: string, args: string } | undefined}
 */
export function parseCall(model, text, schemas = []) {
  const found = callNow('parse_tool_call', {
    model: model.name,
    text: checkedText(text, 'parseCall'),
    schemas: schemaTexts(schemas),
  });
  return found.length > 0 ? { name: found[0].name, args: found[0].arguments } : undefined;
}

/**
 * The model's own format of calls of these tools; undefined for a model without an enforceable one. Only a message of
 * reasoning may come before the first call, where replies are made of messages (gpt-oss).
 * @param {Model} model
 * @param {Iterable<ToolSchema>} schemas
 * @returns {Grammar | undefined}
 */
export function nativeGrammar(model, schemas) {
  const source = nativeSource(schemas);
  return compiled(model, source) && new Grammar(source);
}

/**
 * A matcher of `nativeGrammar`; undefined for a model without an enforceable one. `new GrammarConstraint(matcher)`
 * makes it a constraint.
 * @param {Model} model
 * @param {Iterable<ToolSchema>} schemas
 * @returns {Matcher | undefined}
 */
export function nativeMatcher(model, schemas) {
  return compiled(model, nativeSource(schemas));
}

/** @param {Iterable<ToolSchema>} schemas @returns {SentGrammarSource} */
function nativeSource(schemas) {
  return { kind: 'tools', schemas: schemaTexts(schemas) };
}

/** @param {Model} model @param {SentGrammarSource} source */
function compiled(model, source) {
  const state = freshMatcher({ model: model.name, source });
  return state === null ? undefined : Matcher.adopt(state);
}
