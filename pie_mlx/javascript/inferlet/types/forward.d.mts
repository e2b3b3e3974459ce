/** @import { SentForward } from './_calls/types.mjs' */
/** @import { ContextHandle } from './_context/handle.mjs' */
/** @import { Adapter } from './adapter.mjs' */
/** @import { Brle } from './brle.mjs' */
/** @import { Probe, Sampler } from './sampler.mjs' */
/**
 * A pass over a context, from `ctx.forward()`. Pages are reserved and committed automatically.
 *
 * Building it sends nothing; `execute()` sends one message. It keeps its context alive.
 */
export class Forward {
    private constructor();
    /** Tokens per page of the context. */
    get pageSize(): number;
    /** The position the first `input` token takes: the context's `seqLen` when the pass was made. */
    startPosition(): number;
    /**
     * Add tokens; each has its slot number as position. Throws InvalidArgumentError outside the vocabulary.
     * @param {Iterable<number>} tokens
     */
    input(tokens: Iterable<number>): this;
    /**
     * Add tokens at explicit positions, which may repeat and leave gaps. Throws InvalidArgumentError when the numbers of
     * tokens and positions differ or a position is negative, ContextLengthError for one that the model cannot reach.
     * @param {Iterable<number>} tokens
     * @param {Iterable<number>} positions
     */
    inputAt(tokens: Iterable<number>, positions: Iterable<number>): this;
    /**
     * One BRLE row per input token over KV slots, true = attend; replaces earlier rows.
     * @param {Iterable<Brle>} masks
     */
    attentionMask(masks: Iterable<brle.Brle>): this;
    /**
     * BRLE over the vocabulary for every sampled row, true = allowed, [] = no restriction; replaces.
     * @param {Brle} mask
     */
    mask(mask: brle.Brle): this;
    /**
     * Draw at these inputs of the pass (0-based). Throws InvalidArgumentError for no index.
     * @param {Iterable<number>} indices
     * @param {Sampler} sampler
     */
    sample(indices: Iterable<number>, sampler: Sampler): SampleHandle;
    /**
     * Read the distribution at one input of the pass (0-based).
     * @param {number} index
     * @param {Probe} probe
     */
    probe(index: number, probe: Probe): ProbeHandle;
    /** Leave full pages uncommitted after this pass, so that they can still be truncated. */
    deferCommit(): this;
    /**
     * Compute this pass's own input with an adapter; replaces. Throws InvalidTypeError for anything else.
     * @param {Adapter | undefined} adapter
     */
    adapter(adapter: Adapter | undefined): this;
    /**
     * Add the noise of a seed to this pass's adapter; 0 and undefined are no noise.
     * @param {number | bigint | undefined} seed
     */
    zoSeed(seed: number | bigint | undefined): this;
    /**
     * Run the pass. When it throws, everything is as before and it can be executed again; after it ran,
     * StepConsumedError.
     *
     * Throws InvalidArgumentError without input, for an index out of range and for masks that do not fit; EmptyMaskError,
     * ContextLengthError, OutOfPagesError, TokenBudgetError, BatchFailedError. With an adapter also AdapterNotFoundError
     * when it was destroyed; InvalidArgumentError for a seed without one that evolves.
     * @returns {Promise<Output>}
     */
    execute(): Promise<Output>;
    #private;
}
import * as brle from './brle.mjs';
import type { Sampler } from './sampler.mjs';
import { SampleHandle } from './output.mjs';
import type { Probe } from './sampler.mjs';
import { ProbeHandle } from './output.mjs';
import type { Adapter } from './adapter.mjs';
import { Output } from './output.mjs';
import type { ContextHandle } from './_context/handle.mjs';
