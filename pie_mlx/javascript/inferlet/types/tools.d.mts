/**
 * The tokens that offer tools at the beginning of a conversation, to be appended before the user's message. Throws
 * TemplateError for a model whose template knows no tools, InvalidArgumentError for bad schemas.
 * @param {Model} model
 * @param {Iterable<ToolSchema>} schemas
 */
export function equipPrefix(model: Model, schemas: Iterable<ToolSchema>): Uint32Array<ArrayBufferLike>;
/**
 * The tokens of a tool's result after a sealed call; values other than strings are JSON-encoded. Throws TemplateError
 * for a model whose template knows no tool results.
 * @param {Model} model
 * @param {string} name
 * @param {unknown} value
 */
export function answerPrefix(model: Model, name: string, value: unknown): Uint32Array<ArrayBufferLike>;
/**
 * The first call in a finished text: name and arguments as JSON text; undefined when there is none.
 * @param {Model} model
 * @param {string} text
 * @param {Iterable<ToolSchema>} [schemas]
 * @returns {{ name: string, args: string } | undefined}
 */
export function parseCall(model: Model, text: string, schemas?: Iterable<ToolSchema>): {
    name: string;
    args: string;
} | undefined;
/**
 * The model's own format of calls of these tools; undefined for a model without an enforceable one. Only a message of
 * reasoning may come before the first call, where replies are made of messages (gpt-oss).
 * @param {Model} model
 * @param {Iterable<ToolSchema>} schemas
 * @returns {Grammar | undefined}
 */
export function nativeGrammar(model: Model, schemas: Iterable<ToolSchema>): Grammar | undefined;
/**
 * A matcher of `nativeGrammar`; undefined for a model without an enforceable one. `new GrammarConstraint(matcher)`
 * makes it a constraint.
 * @param {Model} model
 * @param {Iterable<ToolSchema>} schemas
 * @returns {Matcher | undefined}
 */
export function nativeMatcher(model: Model, schemas: Iterable<ToolSchema>): Matcher | undefined;
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
export class Decoder extends QueueDecoder<Event> {
    /**
     * @param {Model} model
     * @param {Iterable<ToolSchema>} [schemas]
     */
    constructor(model: Model, schemas?: Iterable<ToolSchema>);
}
/**
 * The description of a tool, as JSON text or an object.
 */
export type ToolSchema = string | object;
/**
 * `idle`: nothing to report. `start`: a call is being written. `call`: a complete call; `args` is JSON text.
 */
export type Event = {
    type: "idle";
} | {
    type: "start";
} | {
    type: "call";
    name: string;
    args: string;
};
import type { Model } from './model.mjs';
import { Grammar } from './grammar.mjs';
import { Matcher } from './matcher.mjs';
import { QueueDecoder } from './_decoding/decoder.mjs';
import type { Item } from './_decoding/items.mjs';
