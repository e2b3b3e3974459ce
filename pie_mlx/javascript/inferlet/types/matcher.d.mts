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
    /**
     * Throws GrammarError for a grammar that does not compile, and for a `behind` that cannot be written.
     * @param {Grammar} grammar
     * @param {Tokenizer} tokenizer
     * @param {MatcherOptions} [options]
     */
    constructor(grammar: Grammar, tokenizer: Tokenizer, { stopTokens, behind }?: MatcherOptions);
    /** The engine's number for it. @type {number} @readonly */
    readonly id: number;
    /** The parts of a schema that are not enforced, by JSON path. @type {readonly string[]} @readonly */
    readonly warnings: readonly string[];
    /** The tokens that may end it; none stands for the model's own. @type {readonly number[]} @readonly */
    readonly stopTokens: readonly number[];
    /**
     * Feed tokens. Throws GrammarRejectedError, and stays as it was, if the grammar forbids one of them.
     * @param {Iterable<number>} tokens
     */
    acceptTokens(tokens: Iterable<number>): void;
    /** The tokens allowed next as BRLE; empty when everything is allowed. */
    nextTokenLogitMask(): Uint32Array<ArrayBuffer>;
    /** Whether it has ended, or nothing may follow. */
    isTerminated(): boolean;
    /** Whether the text so far is whole, so that it may end here. */
    isComplete(): boolean;
    /** Undo the last `n` tokens. @param {number} n */
    rollback(n: number): void;
    /** Undo all tokens. */
    reset(): void;
    /** An independent copy, for a forked context. */
    fork(): Matcher;
}
/**
 * `stopTokens` are allowed exactly where the grammar may end; none means the model's own. With `behind`, any text may
 * come first, until that text has been written: the grammar begins there.
 */
export type MatcherOptions = {
    stopTokens?: Iterable<number>;
    behind?: string;
};
import type { MatcherState } from './_calls/types.mjs';
import type { Grammar } from './grammar.mjs';
import type { Tokenizer } from './model.mjs';
