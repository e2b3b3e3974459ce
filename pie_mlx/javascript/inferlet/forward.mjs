/** One forward pass, built by hand. */

import { integer, integers, tokenList } from './_calls/checks.mjs';
import { checkedAdapter, checkedSeed } from './adapter.mjs';
import * as brle from './brle.mjs';
import { ContextLengthError, EmptyMaskError, InvalidArgumentError, PieError, StepConsumedError } from './errors.mjs';
import { Output, PassSlots, ProbeHandle, SampleHandle } from './output.mjs';
import { checkedProbe, checkedSampler } from './sampler.mjs';

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
  #handle;
  #start;
  /** @type {number[]} */
  #tokens = [];
  /** @type {(number | undefined)[]} */
  #positions = [];
  /** @type {number[][] | null} */
  #attentionMasks = null;
  /** @type {number[]} */
  #logitMask = [];
  #passSlots = new PassSlots();
  #commit = true;
  /** @type {Adapter | undefined} */
  #adapter;
  /** @type {number | bigint} */
  #zoSeed = 0;
  #consumed = false;

  /** @param {ContextHandle} handle @internal */
  constructor(handle) {
    this.#handle = handle;
    this.#start = handle.length;
  }

  /** Tokens per page of the context. */
  get pageSize() {
    return this.#handle.pageSize;
  }

  /** The position the first `input` token takes: the context's `seqLen` when the pass was made. */
  startPosition() {
    return this.#start;
  }

  /**
   * Add tokens; each has its slot number as position. Throws InvalidArgumentError outside the vocabulary.
   * @param {Iterable<number>} tokens
   */
  input(tokens) {
    for (const token of tokenList(tokens, this.#handle.model.info.vocabulary_size)) this.#add(token, undefined);
    return this;
  }

  /**
   * Add tokens at explicit positions, which may repeat and leave gaps. Throws InvalidArgumentError when the numbers of
   * tokens and positions differ or a position is negative, ContextLengthError for one that the model cannot reach.
   * @param {Iterable<number>} tokens
   * @param {Iterable<number>} positions
   */
  inputAt(tokens, positions) {
    const { vocabulary_size: size, maximum_positions: end } = this.#handle.model.info;
    const added = tokenList(tokens, size);
    const places = integers(positions, 'positions');
    if (places.length !== added.length || places.some((place) => place < 0)) {
      const smallest = places.reduce((least, place) => Math.min(least, place), 0);
      const message = `inputAt: ${places.length} positions for ${added.length} tokens, smallest ${smallest}`;
      throw new InvalidArgumentError(message, { hint: 'pass one position of at least 0 for each token' });
    }
    if (places.some((place) => place >= end)) {
      const message = `inputAt: a position is beyond the model's ${end}`;
      throw new ContextLengthError(message, { hint: 'pass smaller positions' });
    }
    for (const [at, token] of added.entries()) this.#add(token, places[at]);
    return this;
  }

  /**
   * One BRLE row per input token over KV slots, true = attend; replaces earlier rows.
   * @param {Iterable<Brle>} masks
   */
  attentionMask(masks) {
    this.#attentionMasks = Array.from(masks, (mask) => brle.canonical(mask));
    return this;
  }

  /**
   * BRLE over the vocabulary for every sampled row, true = allowed, [] = no restriction; replaces.
   * @param {Brle} mask
   */
  mask(mask) {
    this.#logitMask = brle.restriction(mask);
    return this;
  }

  /**
   * Draw at these inputs of the pass (0-based). Throws InvalidArgumentError for no index.
   * @param {Iterable<number>} indices
   * @param {Sampler} sampler
   */
  sample(indices, sampler) {
    const places = integers(indices, 'indices');
    if (places.length === 0) {
      throw new InvalidArgumentError('sample: no index', { hint: 'name at least one input of the pass' });
    }
    const handle = new SampleHandle();
    this.#passSlots.attach(handle, places, checkedSampler(sampler));
    return handle;
  }

  /**
   * Read the distribution at one input of the pass (0-based).
   * @param {number} index
   * @param {Probe} probe
   */
  probe(index, probe) {
    const handle = new ProbeHandle();
    this.#passSlots.attach(handle, [integer(index, 'index')], checkedProbe(probe));
    return handle;
  }

  /** Leave full pages uncommitted after this pass, so that they can still be truncated. */
  deferCommit() {
    this.#commit = false;
    return this;
  }

  /**
   * Compute this pass's own input with an adapter; replaces. Throws InvalidTypeError for anything else.
   * @param {Adapter | undefined} adapter
   */
  adapter(adapter) {
    this.#adapter = checkedAdapter(adapter);
    return this;
  }

  /**
   * Add the noise of a seed to this pass's adapter; 0 and undefined are no noise.
   * @param {number | bigint | undefined} seed
   */
  zoSeed(seed) {
    this.#zoSeed = checkedSeed(seed);
    return this;
  }

  /**
   * Run the pass. When it throws, everything is as before and it can be executed again; after it ran,
   * StepConsumedError.
   *
   * Throws InvalidArgumentError without input, for an index out of range and for masks that do not fit; EmptyMaskError,
   * ContextLengthError, OutOfPagesError, TokenBudgetError, BatchFailedError. With an adapter also AdapterNotFoundError
   * when it was destroyed; InvalidArgumentError for a seed without one that evolves.
   * @returns {Promise<Output>}
   */
  async execute() {
    if (this.#consumed) {
      throw new StepConsumedError('forward: it was executed already', { hint: 'make a new one with ctx.forward()' });
    }
    const request = this.#request();
    this.#consumed = true;
    try {
      return new Output(await this.#handle.run(request), this.#passSlots.spans);
    } catch (error) {
      if (error instanceof PieError) this.#consumed = false;
      throw error;
    }
  }

  /** @param {number} token @param {number | undefined} position */
  #add(token, position) {
    this.#tokens.push(token);
    this.#positions.push(position);
  }

  /** @returns {SentForward} */
  #request() {
    if (this.#tokens.length === 0) {
      throw new InvalidArgumentError('forward: no input', { hint: 'call input() or inputAt() before execute()' });
    }
    if (!brle.allowsAny(this.#logitMask, this.#handle.model.info.vocabulary_size)) {
      const hint = 'allow at least one token id';
      throw new EmptyMaskError('forward: the logit mask allows no token', { hint });
    }
    return {
      context: this.#handle.id,
      tokens: this.#tokens,
      positions: this.#explicitPositions(),
      attention_masks: this.#attentionMasks,
      slots: this.#passSlots.slots,
      logit_mask: this.#logitMask,
      commit: this.#commit,
      horizon: this.#handle.bidding.forRawPass(),
      adapter: this.#adapter?.id ?? 0,
      zo_seed: this.#zoSeed,
    };
  }

  #explicitPositions() {
    if (this.#positions.every((position) => position === undefined)) return null;
    const first = this.#handle.nextSlot;
    return this.#positions.map((position, place) => position ?? first + place);
  }
}
