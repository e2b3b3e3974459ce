/** The message of one step of a Generator. */

import { UNKNOWN_HORIZON } from '../_context/bidding.mjs';
import { NO_LIMIT } from './drafting.mjs';

/** @import { SentContinuation, SentForward, SentOtherContext, SentProspect, SentSlot } from '../_calls/types.mjs' */
/** @import { Horizon } from '../_context/bidding.mjs' */
/** @import { ContextHandle } from '../_context/handle.mjs' */
/** @import { Sampler } from '../sampler.mjs' */
/** @import { ConstraintSet } from './constraints.mjs' */
/** @import { NoDrafting } from './drafting.mjs' */

/** A text of unknown length is expected to go on for as long as it is, and at least for so many tokens. */
const LEAST_UNKNOWN = 64;

/**
 * Expected remaining tokens of a text, and their variation.
 * @param {SentProspect} prospect
 * @returns {Horizon}
 */
export function prospectAfter({ generated = 0, expected, variation = 1 }) {
  if (expected == null) return [Math.max(Number(generated), LEAST_UNKNOWN), 1];
  return [Math.max(Number(expected) - Number(generated), 1), variation];
}

/**
 * The horizon of the first bid: that of a long text if neither a horizon nor a limit is known.
 * @param {SentProspect} prospect
 * @returns {Horizon}
 */
export function firstHorizon(prospect) {
  return prospect.expected === null ? UNKNOWN_HORIZON : prospectAfter(prospect);
}

/**
 * What a step is made of: the buffer, what is read, and what restricts, drafts, changes and pays for it.
 * @typedef {object} StepParts
 * @property {ContextHandle} handle
 * @property {number[]} tokens
 * @property {SentSlot[]} slots
 * @property {Sampler} sampler
 * @property {ConstraintSet} constraints
 * @property {NoDrafting} drafting
 * @property {ReadonlySet<number>} stops
 * @property {number} adapter
 * @property {number | bigint} zoSeed
 * @property {SentProspect} prospect
 * @property {boolean} rebids
 * @property {boolean} hasProbes
 * @property {SentOtherContext[]} others
 */

/** The message of one step. */
export class StepPlan {
  #parts;

  /** @param {StepParts} parts */
  constructor(parts) {
    this.#parts = parts;
  }

  /**
   * A pass that draws up to `most` tokens, none for 0, of the `remaining` ones, null for no limit.
   * @param {number | null} remaining
   * @param {number} most
   * @returns {SentForward}
   */
  request(remaining, most) {
    const { handle, tokens, slots, constraints, adapter, zoSeed, prospect, rebids, others } = this.#parts;
    const end = handle.nextSlot + tokens.length;
    const room = Math.min(handle.model.info.maximum_positions - end + 1, remaining ?? Infinity);
    const mask = constraints.logitMask();
    const matchers = most > 0 ? constraints.matchers : [];
    return {
      context: handle.id,
      tokens,
      slots,
      logit_mask: most > 0 ? mask : [],
      matchers,
      advance_slot: matchers.length > 0 ? 0 : null,
      speculation: most > 0 ? this.#speculation(end, remaining) : null,
      continuation: slots.length === 1 ? this.#continuation(Math.min(most, room), room) : null,
      adapter,
      zo_seed: zoSeed,
      horizon: handle.bidding.forStep(prospectAfter(prospect), rebids),
      others: most > 0 ? others : [],
    };
  }

  /**
   * Drafts from `position` on: none when one token remains, or when a constraint cannot look ahead.
   * @param {number} position
   * @param {number | null} remaining
   */
  #speculation(position, remaining) {
    const limit = remaining === null ? NO_LIMIT : remaining - 1;
    if (limit < 1 || this.#parts.constraints.looksBack) return null;
    return this.#parts.drafting.draft(position, limit, this.#ends());
  }

  /**
   * The steps after the next one, which draws one of `most` tokens; there is room for `room`. null where the program
   * has a say in them, or in their bids.
   * @param {number} most
   * @param {number} room
   * @returns {SentContinuation | null}
   */
  #continuation(most, room) {
    const { handle, constraints, drafting, hasProbes, rebids, prospect } = this.#parts;
    if (constraints.looksBack || handle.bidding.servesOnePass) return null;
    if (most === 1 && room > 1) return this.#prefetching(room);
    if (most <= 1 || hasProbes || drafting.needsProgram) return null;
    const renews = rebids && handle.bidding.idleDepth === 0;
    return { tokens: most - 1, stop_tokens: this.#ends(), prospect: renews ? prospect : null };
  }

  /**
   * Steps like this one that may be taken before they are asked for, as far as they can be told.
   * @param {number} room
   * @returns {SentContinuation | null}
   */
  #prefetching(room) {
    const { drafting, adapter, zoSeed, sampler, constraints, stops } = this.#parts;
    const isPlain = !drafting.needsProgram && adapter === 0 && Number(zoSeed) === 0;
    if (this.#parts.others.length > 0) return null;
    if (!isPlain || sampler.read.scores || sampler.rule?.carriesStates || constraints.matchers.length > 0) return null;
    return { tokens: room - 1, stop_tokens: [...stops], asked: false };
  }

  #ends() {
    return [...new Set([...this.#parts.stops, ...this.#parts.constraints.endTokens])];
  }
}
