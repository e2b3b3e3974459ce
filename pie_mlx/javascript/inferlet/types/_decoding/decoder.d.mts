/** @import { Model } from '../model.mjs' */
/** @import { Item, Scanner } from './items.mjs' */
/** An event of a decoder. @typedef {{ type: string, text?: string }} AnyEvent */
/**
 * Queues the events of one stream; the events do not depend on how the tokens are split into feeds.
 * @template {AnyEvent} E
 */
export class QueueDecoder<E extends AnyEvent> {
    /**
     * @param {Model} model
     * @param {Iterable<string | object>} [schemas]
     */
    constructor(model: Model, schemas?: Iterable<string | object>);
    /**
     * Decode tokens and return the oldest event not yet returned, one of type `idle` if there is none. `feed([])` drains.
     * @param {Iterable<number>} tokens
     * @returns {E}
     */
    feed(tokens: Iterable<number>): E;
    /**
     * End the turn as a stop token would, and return an event as `feed` does: for a reply that was cut short.
     * @returns {E}
     */
    finish(): E;
    /** Forget everything, as if newly made. */
    reset(): void;
    #private;
}
/**
 * An event of a decoder.
 */
export type AnyEvent = {
    type: string;
    text?: string;
};
import type { Item } from './items.mjs';
import type { Model } from '../model.mjs';
