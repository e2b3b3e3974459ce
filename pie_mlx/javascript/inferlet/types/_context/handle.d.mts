/**
 * Owns a context of the engine until the last reference to it is gone.
 *
 * Passes go out through `run`. Tokens drained by `ctx.forward()` are *promised*: they count as computed and travel with
 * the next pass, at latest by the next operation. So do those of prefetched steps.
 */
export class ContextHandle {
    /** @param {Model} model @param {ContextState} state */
    constructor(model: Model, state: ContextState);
    reuse: Readonly<import("../_calls/types.mjs").Reuse>;
    released: boolean;
    model: Model;
    id: number;
    pageSize: number;
    bidding: Bidding;
    /** Tokens in KV, counting the promised ones. */
    get length(): number;
    /** The slot the next token will take, after everything promised and under way. */
    get nextSlot(): number;
    /** Whether it holds pages, by the latest counters. */
    get hasPages(): boolean;
    /** Whether something promised is still to be computed. */
    get owesTokens(): boolean;
    /** Whether a pass is in flight. */
    get isInFlight(): boolean;
    /** Throws ContextReleasedError after release. */
    check(): void;
    /** Add drained tokens, to be computed with the next pass. @param {Iterable<number>} tokens */
    promise(tokens: Iterable<number>): void;
    /**
     * Make a call that returns the page counters, after computing everything promised.
     * @template {PageCall} N
     * @param {N} name
     * @param {Calls[N]['fields']} fields
     * @returns {PageCounters}
     */
    ask<N extends PageCall>(name: N, fields: Calls[N]["fields"]): PageCounters;
    /**
     * Run a pass. When it does not run, `giveBack` is called and the promised tokens stay promised.
     * @param {SentForward} request
     * @param {() => void} [giveBack]
     * @returns {Promise<ForwardReply>}
     */
    run(request: SentForward, giveBack?: () => void): Promise<ForwardReply>;
    /**
     * Run a pass of this context and of those that the request names as well: `others` are these, each with what gives its
     * input back where the pass does not run.
     * @param {SentForward} request
     * @param {() => void} giveBack
     * @param {{ handle: ContextHandle, giveBack: () => void }[]} others
     * @returns {Promise<ForwardReply>}
     */
    runTogether(request: SentForward, giveBack: () => void, others: {
        handle: ContextHandle;
        giveBack: () => void;
    }[]): Promise<ForwardReply>;
    /** Compute what is promised; blocks for the pass. */
    computePromised(): void;
    /** Give back the context. Later use throws ContextReleasedError; releasing twice is no error. */
    release(): void;
    #private;
}
/**
 * A pass that was sent: `promised` are the drained tokens in it, `giveBack` returns its other input.
 */
export type InflightPass = {
    message: SentForward;
    promised: number[];
    giveBack: () => void;
    ticket: number;
    size: number;
};
/**
 * The calls that answer with page counters.
 */
export type PageCall = "reserve_pages" | "truncate_tokens";
import type { Model } from '../model.mjs';
import { Bidding } from './bidding.mjs';
import type { Calls } from '../_calls/types.mjs';
import type { PageCounters } from '../_calls/types.mjs';
import type { SentForward } from '../_calls/types.mjs';
import type { ForwardReply } from '../_calls/types.mjs';
import type { ContextState } from '../_calls/types.mjs';
