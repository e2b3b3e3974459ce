/** Tokens of steps that the engine has computed before they were asked for. */

import { isDeepStrictEqual } from 'node:util';

/** @import { ForwardReply, SentForward } from '../_calls/types.mjs' */

/** The prefetched tokens of a context's last pass; emptied by any other use of the context. */
export class PrefetchBuffer {
  /** The tokens used since the last pass; the next pass reports them to the engine. */
  claimed = 0;
  /** @type {number[]} */
  #left = [];
  /** @type {SentForward | undefined} */
  #next;

  /** Discard the rest, because something else happens to the context. */
  clear() {
    this.#left = [];
  }

  /**
   * Keep the prefetched tokens of a reply, which passes like `request` would draw next.
   * @param {SentForward} request
   * @param {ForwardReply} reply
   */
  fill(request, reply) {
    const [drawn] = reply.results;
    if (drawn.result !== 'sampled_tokens') return;
    this.#next = following(request, /** @type {number} */ (drawn.tokens.at(-1)));
    this.#left = reply.prefetched.toReversed();
  }

  /**
   * The token that `request` draws, if it is the expected pass.
   * @param {SentForward} request
   */
  draw(request) {
    if (this.#left.length === 0 || this.#next === undefined || !isSame(request, this.#next)) return undefined;
    this.claimed += 1;
    const drawn = /** @type {number} */ (this.#left.pop());
    this.#next = { ...this.#next, tokens: [drawn] };
    return drawn;
  }

  /**
   * `request`, with the number of claimed tokens, which then starts at 0 again.
   * @param {SentForward} request
   * @returns {SentForward}
   */
  withClaimed(request) {
    const claimed = this.claimed;
    this.claimed = 0;
    return claimed === 0
      ? request
      : { ...request, continuation: { ...(request.continuation ?? { asked: false }), claimed } };
  }

  /**
   * Count the claimed tokens of a request that did not run again.
   * @param {SentForward} request
   */
  restoreClaimed(request) {
    this.claimed += Number(request.continuation?.claimed ?? 0);
  }
}

/**
 * The pass after one that drew a token, as far as that decides what it draws.
 * @param {SentForward} request
 * @param {number} drawn
 */
function following(request, drawn) {
  return { ...drawing(request), tokens: [drawn] };
}

/**
 * A pass whatever its bid, its drafts and the number of steps after it.
 * @param {SentForward} request
 */
function drawing(request) {
  return { ...request, pending: [], continuation: null, speculation: null, horizon: null };
}

/**
 * Whether `request` is the expected pass of a program that asks step by step.
 * @param {SentForward} request
 * @param {SentForward} expected
 */
function isSame(request, expected) {
  if (request.continuation == null || request.continuation.asked !== false) return false;
  return isDeepStrictEqual(drawing(request), expected);
}
