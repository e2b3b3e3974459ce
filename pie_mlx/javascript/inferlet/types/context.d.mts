/** @import { ContextState, PendingInput, SentTurn } from './_calls/types.mjs' */
/** @import { RetainOptions } from './_context/bidding.mjs' */
/** @import { GenerateOptions } from './_generation/options.mjs' */
/** @import { Model } from './model.mjs' */
/** @import { Sampler } from './sampler.mjs' */
/**
 * A sequence of KV pages in the engine, and a buffer of tokens that have no KV yet.
 *
 * Pages are released by `release()`, at the end of `using`, and with the last reference; a live Forward, Generator or
 * GenStep keeps them. Later use throws ContextReleasedError.
 */
export class Context {
    /**
     * A copy of a saved snapshot, which stays; undefined when the name is absent. Throws SnapshotIncompatibleError for
     * one that was kept on disk by another model or tokenizer.
     * @param {Model} model
     * @param {string} name
     * @returns {Context | undefined}
     */
    static open(model: Model, name: string): Context | undefined;
    /**
     * A saved snapshot as a context; the name is removed. undefined when it is absent.
     * @param {Model} model
     * @param {string} name
     * @returns {Context | undefined}
     */
    static take(model: Model, name: string): Context | undefined;
    /**
     * Drop a saved snapshot. Throws SnapshotNotFoundError.
     * @param {Model} model
     * @param {string} name
     */
    static delete(model: Model, name: string): void;
    /**
     * Bring the pages of a saved snapshot into the pool, as `prefetch` does, before it is opened. Returns whether they
     * are there; false when the name is absent.
     * @param {Model} model
     * @param {string} name
     */
    static prefetchSaved(model: Model, name: string): Promise<boolean>;
    /**
     * A fresh context.
     * @param {Model} model
     */
    constructor(model: Model);
    /** A copy that shares every committed page and has the same buffer; its bid starts at 0. */
    fork(): Context;
    /**
     * Save under a name, replacing what was there. Throws InvalidArgumentError for a bad name.
     *
     * `persist` also writes it to disk, for engines that are started later, and with `kv_disk` its KV as far as the day's
     * writes allow; without it `persist_snapshots` of the configuration counts. Throws SnapshotError when the disk fails
     * or this user's limit is reached, and SnapshotIncompatibleError for KV computed with an adapter; the old snapshot
     * stays.
     * @param {string} name
     * @param {{ persist?: boolean }} [options]
     */
    save(name: string, { persist }?: {
        persist?: boolean;
    }): void;
    /** Save under a fresh name; returns it. Throws SnapshotError when this user's limit is reached. */
    snapshot(): string;
    /** Release all pages now. Releasing twice is no error. */
    release(): void;
    /**
     * Buffer a system message; it may be held back until the first user message or the flush.
     * @param {string} text
     */
    system(text: string): this;
    /** Buffer a user message. @param {string} text */
    user(text: string): this;
    /**
     * Buffer an assistant message of the past; `calls` are the tools it called and their arguments as JSON text.
     * @param {string} text
     * @param {Iterable<readonly [name: string, args: string]>} [calls]
     */
    assistant(text: string, calls?: Iterable<readonly [name: string, args: string]>): this;
    /**
     * Offer tools, by their JSON descriptions, where the model's template puts them.
     * @param {Iterable<string | object>} schemas
     */
    equipTools(schemas: Iterable<string | object>): this;
    /**
     * Buffer a tool's result; values other than strings are JSON-encoded.
     * @param {string} name
     * @param {unknown} value
     */
    answerTool(name: string, value: unknown): this;
    /** Buffer the start of the model's turn. */
    cue(): this;
    /** Buffer the end of the model's turn. Where calls end differently, it is written with the next turn. */
    seal(): this;
    /**
     * Buffer raw tokens, after turns that were held back. Tokens of a turn (`chat.user(...)`) are rendered as that turn
     * at this point of the conversation. Throws InvalidArgumentError outside the vocabulary.
     * @param {Iterable<number>} tokens
     */
    append(tokens: Iterable<number>): this;
    /**
     * Buffer a text, after turns that were held back. One that begins the sequence gets the tokens that the tokenizer
     * puts before one, such as BOS.
     * @param {string} text
     */
    appendText(text: string): this;
    /**
     * Compute the buffer and commit full pages; does nothing without pending tokens.
     *
     * When it throws, the buffer is as before. Throws ContextLengthError, OutOfPagesError, TokenBudgetError,
     * BatchFailedError.
     */
    flush(): Promise<void>;
    /**
     * A pass built by hand. It takes over the buffer, which is computed with the pass, at the latest by the next
     * operation of the context.
     */
    forward(): Forward;
    /**
     * Generate from here on. Throws InvalidArgumentError, InvalidTypeError, GrammarError, SpeculationError.
     * @param {Sampler} sampler
     * @param {GenerateOptions} [options]
     */
    generate(sampler: Sampler, options?: GenerateOptions): Generator;
    /**
     * Forget the last `n` working tokens. Throws PageBoundsError for more than there are: committed pages cannot be
     * truncated.
     * @param {number} n
     */
    truncate(n: number): void;
    /**
     * Have the engine keep what recurrent layers remember of the tokens with KV, if there are such layers: a later
     * `truncate`, and prompts that begin alike, then compute little again.
     */
    checkpoint(): void;
    /**
     * Bid credits per page per tick; under a Generator for the next pass only. Negative is 0. Returns the bid now in
     * effect. Throws InvalidArgumentError for NaN and Infinity.
     * @param {number} value
     */
    setBid(value: number): number;
    /**
     * Bid 0 until the end of `using _ = ctx.idle()`, or after `expectReturn(seconds)` what that is worth; `setBid` inside
     * takes effect at its end.
     * @param {number} [seconds]
     * @returns {Disposable}
     */
    idle(seconds?: number): Disposable;
    /**
     * Keep the pages of this context while it does nothing. They pay rent meanwhile, and a higher bid or an unpaid rent
     * ends it. Returns for how many seconds it holds. Throws InvalidArgumentError for numbers that are negative or not
     * finite, and for a priority above 1000.
     * @param {RetainOptions} [options]
     */
    retain({ priority, ttlSeconds, prepaid }?: RetainOptions): number;
    /**
     * This context will be used again in about so many seconds: the sooner, the more its pages are worth. Without
     * `retain` that holds for four times as long. Throws InvalidArgumentError for a negative number.
     * @param {number} seconds
     */
    expectReturn(seconds: number): void;
    /** The pages of this context are the first to go, now and when it is released. Ends `retain`. */
    demote(): void;
    /** Bring a suspended context back now, if no other one has to go for it. Returns whether it is in the pool. */
    prefetch(): Promise<boolean>;
    /**
     * Release all pages now; the engine restores the context when it is used. Throws ContextBusyError while a pass is in
     * flight.
     */
    suspend(): void;
    /** The engine's number for this context. */
    get id(): number;
    /** The model it belongs to. */
    get model(): Model;
    /** Tokens per KV page. */
    get pageSize(): number;
    /** Tokens with KV, committed and working; the buffer is not counted. */
    get seqLen(): number;
    /**
     * How the tokens of its prompts came to have KV: `from_memory`, `from_disk`, `replayed` and `computed` count tokens.
     * `miss` is why the first page that was computed had not been cached; null if all was.
     */
    get reuse(): Readonly<import("./_calls/types.mjs").Reuse>;
    /** Tokens without KV, as a copy. */
    buffer(): Uint32Array<ArrayBuffer>;
    [Symbol.dispose](): void;
    #private;
}
/**
 * A context of the engine, and what its program holds for it.
 */
export type Restored = {
    state: ContextState;
    pending: Readonly<PendingInput>;
};
import { Forward } from './forward.mjs';
import type { Sampler } from './sampler.mjs';
import type { GenerateOptions } from './_generation/options.mjs';
import { Generator } from './generator.mjs';
import type { RetainOptions } from './_context/bidding.mjs';
import type { Model } from './model.mjs';
import type { ContextState } from './_calls/types.mjs';
import type { PendingInput } from './_calls/types.mjs';
