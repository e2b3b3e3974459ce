/** The bid of a context for its pages: the automatic bid, overrides and idle scopes. */

import { number } from '../_calls/checks.mjs';
import { callNow, post } from '../_calls/host.mjs';
import { InvalidArgumentError } from '../errors.mjs';

/**
 * Expected remaining tokens, and the squared coefficient of variation of that number.
 * @typedef {[number, number]} Horizon
 */

/**
 * How long and how much a context's pages are worth while it does nothing: `priority` times what computing them again
 * costs, for `ttlSeconds` (an hour at most; 0 ends it). With `prepaid`, the launch pays now: the make cost of the pages
 * for each 300 seconds, or for as long as its credits last.
 * @typedef {{ priority?: number, ttlSeconds?: number, prepaid?: boolean }} RetainOptions
 */

/** @type {Horizon} */
export const UNKNOWN_HORIZON = [4096, 1];

/** The bids of one context. */
export class Bidding {
  #context;
  /** A bid set by hand that still holds. @type {number | undefined} */
  #override;
  #idleDepth = 0;
  #resumeDue = false;

  /** @param {number} context */
  constructor(context) {
    this.#context = context;
  }

  /** How many idle scopes are open. */
  get idleDepth() {
    return this.#idleDepth;
  }

  /**
   * Declare a bid by hand; returns the one in effect. Throws InvalidArgumentError for NaN and Infinity.
   * @param {number} bid
   */
  set(bid) {
    const wanted = Math.max(number(bid, 'setBid'), 0);
    if (Number.isNaN(wanted) || wanted === Infinity) {
      throw new InvalidArgumentError(`setBid: ${bid} is not a bid`, { hint: 'pass a finite number of credits' });
    }
    const held = this.#idleDepth > 0 ? 0 : callNow('set_bid', { context: this.#context, bid: wanted });
    this.#override = wanted;
    return held;
  }

  /**
   * A Generator starts: the automatic bid replaces an override.
   * @param {Horizon} horizon
   */
  prime(horizon) {
    if (this.#idleDepth === 0) this.#rebid(horizon);
    this.#override = undefined;
    this.#resumeDue = false;
  }

  /** The automatic bid of a pass outside Generators; null leaves the bid alone. */
  forRawPass() {
    return this.#idleDepth > 0 || this.#override !== undefined ? null : UNKNOWN_HORIZON;
  }

  /** Whether the bid in effect is for the next pass only: one set by hand. */
  get servesOnePass() {
    return this.#override !== undefined && this.#idleDepth === 0;
  }

  /**
   * The automatic bid of a Generator's step; null leaves the bid alone.
   * @param {Horizon} horizon
   * @param {boolean} rebid
   */
  forStep(horizon, rebid) {
    if (this.#idleDepth > 0 || this.#override !== undefined) return null;
    return rebid || this.#resumeDue ? horizon : null;
  }

  /** A Generator's step ran: an override has served its one pass. */
  stepDone() {
    if (this.#idleDepth > 0) return;
    this.#resumeDue = this.#override !== undefined;
    this.#override = undefined;
  }

  /** Bid 0 until the scope closes. */
  enterIdle() {
    if (this.#idleDepth === 0) callNow('set_bid', { context: this.#context, bid: 0 });
    this.#idleDepth += 1;
  }

  /**
   * Close a scope; the outermost one restores the override, else makes a new automatic bid.
   * @param {boolean} hasPages
   */
  leaveIdle(hasPages) {
    this.#idleDepth -= 1;
    if (this.#idleDepth > 0) return;
    if (this.#override !== undefined) callNow('set_bid', { context: this.#context, bid: this.#override });
    else if (hasPages) this.#rebid(UNKNOWN_HORIZON);
  }

  /** @param {Horizon} horizon */
  #rebid([remaining, variation]) {
    post('rebid', { context: this.#context, remaining_tokens: remaining, variation });
  }
}
