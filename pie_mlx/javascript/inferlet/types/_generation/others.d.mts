/** Let a context be one of others. @param {Context} context @param {Parts} own */
export function register(context: Context, own: Parts): void;
/** Whether rows of two models are about the same tokens. So far only those of one model are. @param {Model} one @param {Model} other */
export function sharesVocabulary(one: Model, other: Model): boolean;
/** All of them, as the passes of a Generator need them. */
export class Others {
    /**
     * Throws InvalidArgumentError unless the sampler's rule reads as many rows, of as many other contexts, and for drafts.
     * @param {ContextHandle} handle
     * @param {Sampler} sampler
     * @param {GenerateOptions} options
     */
    constructor(handle: ContextHandle, sampler: Sampler, { others, speculator, systemSpeculation, speculation }: GenerateOptions);
    /** Whether there are none. */
    get isEmpty(): boolean;
    /** Buffer the start of the model's turn in each of them, or in none. */
    cue(): void;
    /**
     * Compute all input of all contexts but its last token: the rows of those are in one pass. Throws InvalidArgumentError
     * for one without input.
     * @param {ContextHandle} first
     * @param {PendingBuffer} buffer
     */
    prepare(first: ContextHandle, buffer: PendingBuffer): Promise<void>;
    /** What a pass computes of each. @returns {SentOtherContext[]} */
    inputs(): SentOtherContext[];
    /**
     * Run a pass of all contexts that the request names, `handle` with them. When it does not run, everything is as before.
     * @param {ContextHandle} handle
     * @param {SentForward} request
     * @param {() => void} giveBack
     * @returns {Promise<ForwardReply>}
     */
    run(handle: ContextHandle, request: SentForward, giveBack: () => void): Promise<ForwardReply>;
    /** Buffer what was drawn; the first `inKv` tokens are in KV. @param {number[]} tokens @param {number} inKv @param {boolean} stopped */
    keep(tokens: number[], inKv: number, stopped: boolean): void;
    #private;
}
/**
 * The parts of a context.
 */
export type Parts = {
    handle: ContextHandle;
    pending: PendingBuffer;
};
/**
 * One of them, and what its tokens are computed with.
 */
export type Member = Parts & {
    adapter: Adapter | undefined;
};
import type { Context } from '../context.mjs';
import type { Model } from '../model.mjs';
import type { ContextHandle } from '../_context/handle.mjs';
import type { PendingBuffer } from '../_context/pending.mjs';
import type { SentOtherContext } from '../_calls/types.mjs';
import type { SentForward } from '../_calls/types.mjs';
import type { ForwardReply } from '../_calls/types.mjs';
import type { Sampler } from '../sampler.mjs';
import type { GenerateOptions } from './options.mjs';
import type { Adapter } from '../adapter.mjs';
