/** The other contexts of a Generator, whose rows its rule reads and which go on with the same tokens. */

import { kindOf } from '../_calls/checks.mjs';
import { checkedAdapter } from '../adapter.mjs';
import { InvalidArgumentError, InvalidTypeError } from '../errors.mjs';

/** @import { ForwardReply, SentForward, SentOtherContext } from '../_calls/types.mjs' */
/** @import { ContextHandle } from '../_context/handle.mjs' */
/** @import { PendingBuffer } from '../_context/pending.mjs' */
/** @import { Adapter } from '../adapter.mjs' */
/** @import { Context } from '../context.mjs' */
/** @import { Model } from '../model.mjs' */
/** @import { Sampler } from '../sampler.mjs' */
/** @import { GenerateOptions } from './options.mjs' */

/** The parts of a context. @typedef {{ handle: ContextHandle, pending: PendingBuffer }} Parts */
/** One of them, and what its tokens are computed with. @typedef {Parts & { adapter: Adapter | undefined }} Member */

/** @type {WeakMap<object, Parts>} */
const parts = new WeakMap();

/** Let a context be one of others. @param {Context} context @param {Parts} own */
export function register(context, own) {
  parts.set(context, own);
}

/** Whether rows of two models are about the same tokens. So far only those of one model are. @param {Model} one @param {Model} other */
export function sharesVocabulary(one, other) {
  return one.name === other.name;
}

/** All of them, as the passes of a Generator need them. */
export class Others {
  #members;

  /**
   * Throws InvalidArgumentError unless the sampler's rule reads as many rows, of as many other contexts, and for drafts.
   * @param {ContextHandle} handle
   * @param {Sampler} sampler
   * @param {GenerateOptions} options
   */
  constructor(handle, sampler, { others = [], speculator, systemSpeculation, speculation }) {
    const names = sampler.rule?.others ?? [];
    if (names.length !== others.length) {
      const read = `${names.length} other contexts (${names.join(', ') || 'none'})`;
      const hint = 'pass others: [...], a context for each, in this order';
      throw new InvalidArgumentError(`generate: the sampler's rule reads rows of ${read}, got ${others.length}`, { hint });
    }
    this.#members = others.map(memberOf);
    if (others.length > 0 && (speculator !== undefined || systemSpeculation || speculation !== undefined))
      throw new InvalidArgumentError('others: nothing is drafted where a rule reads rows of other contexts', {
        hint: 'generate without drafts',
      });
    if (new Set([handle.id, ...this.#members.map((one) => one.handle.id)]).size <= others.length)
      throw new InvalidArgumentError('others: a context is named twice', { hint: 'fork it, to use it twice' });
    for (const { handle: own } of this.#members) {
      own.check();
      if (!sharesVocabulary(handle.model, own.model)) {
        const models = `${handle.model.name} and ${own.model.name}`;
        throw new InvalidArgumentError(`others: rows of two models, ${models}, which do not share a vocabulary`, {
          hint: 'use contexts of one model, for example with an adapter or another prompt',
        });
      }
    }
  }

  /** Whether there are none. */
  get isEmpty() {
    return this.#members.length === 0;
  }

  /** Buffer the start of the model's turn in each of them, or in none. */
  cue() {
    const before = this.#members.map(({ pending }) => pending.snapshot());
    try {
      for (const { pending } of this.#members) pending.render({ role: 'cue' });
    } catch (error) {
      for (const [place, { pending }] of this.#members.entries()) pending.restore(before[place]);
      throw error;
    }
  }

  /**
   * Compute all input of all contexts but its last token: the rows of those are in one pass. Throws InvalidArgumentError
   * for one without input.
   * @param {ContextHandle} first
   * @param {PendingBuffer} buffer
   */
  async prepare(first, buffer) {
    for (const { handle, pending } of [{ handle: first, pending: buffer }, ...this.#members]) {
      handle.check();
      pending.releaseHeld();
      if (pending.tokens.length === 0)
        throw new InvalidArgumentError(`others: context ${handle.id} has no pending token to go on from`, {
          hint: 'append a token or a turn and do not flush it, or leave autoFlush on',
        });
      if (pending.tokens.length > 1 || handle.owesTokens) {
        const early = [...pending.drain()];
        pending.giveBack(early.splice(-1));
        const request = { context: handle.id, pending: early, horizon: handle.bidding.forRawPass() };
        await handle.run(request, () => pending.giveBack(early));
      }
    }
  }

  /** What a pass computes of each. @returns {SentOtherContext[]} */
  inputs() {
    return this.#members.map(({ handle, pending, adapter }) => ({
      context: handle.id,
      tokens: [...pending.tokens],
      adapter: adapter?.id ?? 0,
    }));
  }

  /**
   * Run a pass of all contexts that the request names, `handle` with them. When it does not run, everything is as before.
   * @param {ContextHandle} handle
   * @param {SentForward} request
   * @param {() => void} giveBack
   * @returns {Promise<ForwardReply>}
   */
  run(handle, request, giveBack) {
    if (!request.others || request.others.length === 0) return handle.run(request, giveBack);
    const others = this.#members.map((one) => {
      const tokens = one.pending.drain();
      return { handle: one.handle, giveBack: () => one.pending.giveBack(tokens) };
    });
    return handle.runTogether(request, giveBack, others);
  }

  /** Buffer what was drawn; the first `inKv` tokens are in KV. @param {number[]} tokens @param {number} inKv @param {boolean} stopped */
  keep(tokens, inKv, stopped) {
    for (const { pending } of this.#members) {
      pending.appendToTurn(tokens, inKv);
      pending.stopped = stopped;
    }
  }
}

/** @param {unknown} other @returns {Member} */
function memberOf(other) {
  const [context, adapter] = Array.isArray(other) ? other : [other, undefined];
  const own = parts.get(context);
  if (own !== undefined) return { ...own, adapter: checkedAdapter(adapter) };
  const hint = 'pass contexts, or pairs of a context and an adapter';
  throw new InvalidTypeError(`others: got ${kindOf(context)}`, { hint });
}
