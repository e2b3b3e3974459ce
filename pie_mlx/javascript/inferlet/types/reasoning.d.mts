/** @import { Item } from './_decoding/items.mjs' */
/** @import { Model } from './model.mjs' */
/**
 * `idle`: nothing to report. `start`: a reasoning block opened. `delta`: more reasoning text. `end`: the block closed;
 * `text` is all of it.
 * @typedef {{ type: 'idle' }
 *   | { type: 'start' }
 *   | { type: 'delta', text: string }
 *   | { type: 'end', text: string }} Event
 */
/**
 * The reasoning blocks of a reply.
 * @extends {QueueDecoder<Event>}
 */
export class Decoder extends QueueDecoder<Event> {
    /** @param {Model} model */
    constructor(model: Model);
    #private;
}
/**
 * `idle`: nothing to report. `start`: a reasoning block opened. `delta`: more reasoning text. `end`: the block closed;
 * `text` is all of it.
 */
export type Event = {
    type: "idle";
} | {
    type: "start";
} | {
    type: "delta";
    text: string;
} | {
    type: "end";
    text: string;
};
import { QueueDecoder } from './_decoding/decoder.mjs';
import type { Model } from './model.mjs';
