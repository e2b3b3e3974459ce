/** Constraints compose: a token must be allowed by all of them. Grammars stay in the engine, the rest are masks. */
export class ConstraintSet {
    /** @param {Model} model @param {Brle} fixed */
    constructor(model: Model, fixed: brle.Brle);
    /** The ids of the matchers. @type {number[]} */
    matchers: number[];
    /** The tokens that end one of the grammars. @type {ReadonlySet<number>} */
    endTokens: ReadonlySet<number>;
    /** A constraint of the program must see each token before it allows the next. */
    looksBack: boolean;
    /**
     * Add a schema, a constraint or an array of them; grammars begin `behind` that text. Throws InvalidTypeError for
     * anything else, InvalidArgumentError for a constraint that was added before, GrammarError.
     * @param {unknown} item
     * @param {Iterable<number>} stopTokens
     * @param {string} behind
     */
    attach(item: unknown, stopTokens: Iterable<number>, behind: string): void;
    /**
     * Let the thoughts of the reply take no more than `tokens`; `behind` is what the cue just written waits for. null is
     * no limit, and a model that has no thoughts needs none.
     * @param {number | null} tokens
     * @param {string} behind
     */
    limitThoughts(tokens: number | null, behind: string): void;
    /** Start the grammars afresh with other stop tokens. @param {Iterable<number>} stopTokens */
    recompile(stopTokens: Iterable<number>): void;
    /**
     * The tokens that the static mask and the program's constraints all allow; [] is everything. Throws EmptyMaskError
     * when there are none, and whatever a constraint throws.
     */
    logitMask(): number[];
    /** The error that names everything attached. */
    nothingAllowed(): EmptyMaskError;
    /**
     * Advance the grammars by tokens the program chose; returns whether one of them has ended. Throws
     * GrammarRejectedError, and then advances none.
     * @param {number[]} tokens
     */
    feedMatchers(tokens: number[]): boolean;
    /** Pass accepted tokens to the program's constraints at their next step. @param {number[]} tokens */
    recordAccepted(tokens: number[]): void;
    #private;
}
import { EmptyMaskError } from '../errors.mjs';
import type { Model } from '../model.mjs';
import * as brle from '../brle.mjs';
