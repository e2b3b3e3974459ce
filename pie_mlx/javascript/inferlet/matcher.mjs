/** A stateful walk over a compiled grammar. */

import { checkedText, integer, integers } from './_calls/checks.mjs';
import { copied, freshMatcher } from './_calls/compiled_grammars.mjs';
import { callNow, post, whenCollected } from './_calls/host.mjs';
import { GrammarError } from './errors.mjs';

/** @import { MatcherState } from './_calls/types.mjs' */
/** @import { Grammar } from './grammar.mjs' */
/** @import { Tokenizer } from './model.mjs' */

/**
 * `stopTokens` are allowed exactly where the grammar may end; none means the model's own. With `behind`, any text may
 * come first, until that text has been written: the grammar begins there.
 * @typedef {{ stopTokens?: Iterable<number>, behind?: string }} MatcherOptions
 */

/** Which tokens a grammar allows next. The engine keeps it; dropping the last reference releases it. */
export class Matcher {
  /** The engine's number for it. @type {number} @readonly */
  id;
  /** The parts of a schema that are not enforced, by JSON path. @type {readonly string[]} @readonly */
  warnings;
  /** The tokens that may end it; none stands for the model's own. @type {readonly number[]} @readonly */
  stopTokens;

  /**
   * Throws GrammarError for a grammar that does not compile, and for a `behind` that cannot be written.
   * @param {Grammar} grammar
   * @param {Tokenizer} tokenizer
   * @param {MatcherOptions} [options]
   */
  constructor(grammar, tokenizer, { stopTokens = [], behind = '' } = {}) {
    const ends = [...new Set(integers(stopTokens, 'stopTokens'))].sort((left, right) => left - right);
    const state = adopted.state ?? fresh(grammar, tokenizer, ends, checkedText(behind, 'behind'));
    this.id = state.matcher;
    this.warnings = state.warnings;
    this.stopTokens = ends;
    const matcher = this.id;
    whenCollected(this, () => post('release_matcher', { matcher }));
  }

  /**
   * A handle for a matcher that exists, or is being made.
   * @param {MatcherState} state
   * @param {Iterable<number>} [stopTokens]
   * @returns {Matcher}
   * @internal
   */
  static adopt(state, stopTokens = []) {
    adopted.state = state;
    try {
      return new Matcher(/** @type {any} */ (undefined), /** @type {any} */ (undefined), { stopTokens });
    } finally {
      adopted.state = undefined;
    }
  }

  /**
   * Feed tokens. Throws GrammarRejectedError, and stays as it was, if the grammar forbids one of them.
   * @param {Iterable<number>} tokens
   */
  acceptTokens(tokens) {
    this.advance(tokens);
  }

  /** `acceptTokens`, answering the state after them. @param {Iterable<number>} tokens @internal */
  advance(tokens) {
    return callNow('advance_matcher', { matcher: this.id, tokens: integers(tokens, 'tokens') });
  }

  /** The tokens allowed next as BRLE; empty when everything is allowed. */
  nextTokenLogitMask() {
    return Uint32Array.from(callNow('read_matcher_mask', { matcher: this.id }));
  }

  /** Whether it has ended, or nothing may follow. */
  isTerminated() {
    return this.advance([]).terminated;
  }

  /** Whether the text so far is whole, so that it may end here. */
  isComplete() {
    return this.advance([]).complete;
  }

  /** Undo the last `n` tokens. @param {number} n */
  rollback(n) {
    callNow('rollback_matcher', { matcher: this.id, count: integer(n, 'n') });
  }

  /** Undo all tokens. */
  reset() {
    callNow('rollback_matcher', { matcher: this.id });
  }

  /** An independent copy, for a forked context. */
  fork() {
    return Matcher.adopt(copied({ matcher: this.id, warnings: [...this.warnings] }), this.stopTokens);
  }
}

/** What `adopt` hands to the constructor. @type {{ state: MatcherState | undefined }} */
const adopted = { state: undefined };

/** @param {Grammar} grammar @param {Tokenizer} tokenizer @param {number[]} ends @param {string} behind */
function fresh(grammar, tokenizer, ends, behind) {
  const state = freshMatcher({ model: tokenizer.modelName, source: grammar.source, stop_tokens: ends, behind });
  if (state !== null) return state;
  const hint = 'generate freely and parse';
  throw new GrammarError('grammar: the model has no enforceable tool format', { hint });
}
