/** Matchers of grammars that a program uses repeatedly. */

import { callNow, post, remembered } from './host.mjs';

/** @import { MatcherState, SentCompileGrammar } from './types.mjs' */

/** Grammars for which a program keeps an unused matcher, to copy instead of compiling again. */
const KEPT_GRAMMARS = 16;

let lastNumber = 0;

/** Unused matchers, by the calls that made them, the least recently used first. @returns {Map<string, MatcherState>} */
const kept = () => remembered('compiled grammars', () => new Map());

/**
 * A fresh matcher; null when the model has no enforceable native tool format. Throws GrammarError.
 * @param {SentCompileGrammar} message
 * @returns {MatcherState | null}
 */
export function freshMatcher(message) {
  const key = JSON.stringify(message);
  const first = kept().get(key) ?? callNow('compile_grammar', message);
  if (first === null) return null;
  kept().delete(key);
  kept().set(key, first);
  if (kept().size > KEPT_GRAMMARS) dropOldest();
  return copied(first);
}

/**
 * A copy of a matcher. Its state is unknown until the copy itself is asked.
 * @param {{ matcher: number, warnings: string[] }} state
 * @returns {MatcherState}
 */
export function copied({ matcher, warnings }) {
  lastNumber -= 1;
  post('fork_matcher', { matcher, number: lastNumber });
  return { matcher: lastNumber, complete: false, terminated: false, warnings };
}

function dropOldest() {
  const [[key, { matcher }]] = kept();
  kept().delete(key);
  post('release_matcher', { matcher });
}
