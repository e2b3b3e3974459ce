/**
 * The tokens of a system message that begins a conversation. Throws TemplateError.
 * @param {Model} model
 * @param {string} message
 */
export function system(model: Model, message: string): Uint32Array<ArrayBufferLike>;
/**
 * The tokens of a user message inside a conversation. Throws TemplateError.
 * @param {Model} model
 * @param {string} message
 */
export function user(model: Model, message: string): Uint32Array<ArrayBufferLike>;
/**
 * The tokens of a past reply inside a conversation. Throws TemplateError.
 * @param {Model} model
 * @param {string} message
 */
export function assistant(model: Model, message: string): Uint32Array<ArrayBufferLike>;
/**
 * The tokens that open the model's turn.
 * @param {Model} model
 */
export function cue(model: Model): Uint32Array<ArrayBufferLike>;
/**
 * The tokens that end the model's turn.
 *
 * Where a turn that calls a tool ends differently (gpt-oss, Gemma 4), these tokens end a turn without a call. A Context
 * they are appended to knows whether there was a call, and writes the matching end.
 * @param {Model} model
 */
export function seal(model: Model): Uint32Array<ArrayBufferLike>;
/**
 * The tokens at which a reply ends.
 * @param {Model} model
 */
export function stopTokens(model: Model): Uint32Array<ArrayBuffer>;
/**
 * The visible text of a reply: without reasoning, tool calls and control tokens. With `schemas`, calls of other tools
 * are text.
 * @extends {QueueDecoder<Event>}
 */
export class Decoder extends QueueDecoder<Event> {
    /**
     * @param {Model} model
     * @param {Iterable<string | object>} [schemas]
     */
    constructor(model: Model, schemas?: Iterable<string | object>);
    #private;
}
/**
 * `idle`: nothing to report. `delta`: more visible text. `done`: the turn ended; `text` is the whole reply, `tail` its
 * part that no delta delivered. `interrupt`: a control token outside any format.
 */
export type Event = {
    type: "idle";
} | {
    type: "delta";
    text: string;
} | {
    type: "done";
    text: string;
    tail: string;
} | {
    type: "interrupt";
    token: number;
};
import type { Model } from './model.mjs';
import { QueueDecoder } from './_decoding/decoder.mjs';
