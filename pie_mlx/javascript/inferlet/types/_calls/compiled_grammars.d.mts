/**
 * A fresh matcher; null when the model has no enforceable native tool format. Throws GrammarError.
 * @param {SentCompileGrammar} message
 * @returns {MatcherState | null}
 */
export function freshMatcher(message: SentCompileGrammar): MatcherState | null;
/**
 * A copy of a matcher. Its state is unknown until the copy itself is asked.
 * @param {{ matcher: number, warnings: string[] }} state
 * @returns {MatcherState}
 */
export function copied({ matcher, warnings }: {
    matcher: number;
    warnings: string[];
}): MatcherState;
import type { SentCompileGrammar } from './types.mjs';
import type { MatcherState } from './types.mjs';
