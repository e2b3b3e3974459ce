/** @import { Tracer } from './values.mjs' */
/**
 * One row of logits and what is known of it. With `candidates` a row holds the most likely tokens, the likeliest first,
 * instead of the vocabulary.
 */
export class Row {
    private constructor();
    /** The logits after penalties and masks, -1e30 for tokens that may not be drawn. */
    get logits(): import("./values.mjs").Value;
    /** Their natural log-probabilities at temperature 1, among all tokens. */
    get logProbabilities(): import("./values.mjs").Value;
    /** Their probabilities at temperature 1, among all tokens. */
    get probabilities(): import("./values.mjs").Value;
    /** In nats, one number; of the candidates alone where there are any. */
    get entropy(): import("./values.mjs").Value;
    /** The token ids, a row of integers. */
    get tokens(): import("./values.mjs").Value;
    /** The token that the row continues, an integer. */
    get previous(): import("./values.mjs").Value;
    /** The token that is drawn from the new row, an integer: for states alone. */
    get drawn(): import("./values.mjs").Value;
    /** Which tokens may be drawn, a row of conditions. */
    get allowed(): import("./values.mjs").Value;
    /** Which tokens the text has, a row of conditions. */
    get seen(): import("./values.mjs").Value;
    /** How often each token was generated since the Generator began, a row. */
    get generated(): import("./values.mjs").Value;
    /**
     * How many of the text's last tokens stood before an earlier occurrence of each token, the longest such match: what the
     * token would repeat. At most 50, of the last 1,024 tokens; a row. `brokenAt` of the rule's use names tokens at which
     * repetitions end.
     */
    get repeated(): import("./values.mjs").Value;
    /** A number of [0, 1) of the context's own random stream, another one than that of the draw. */
    get random(): import("./values.mjs").Value;
    /**
     * The row's final hidden state after the last norm, as the output head gets it: a vector as wide as the model. What a
     * hidden-state probe reads.
     */
    get hiddenState(): import("./values.mjs").Value;
    /** A constant vector. All constants of a rule have at most 65,536 numbers. @param {Iterable<number>} values */
    vector(values: Iterable<number>): import("./values.mjs").Value;
    /** A number as a value, for what a number has no methods for: `row.constant(1).subtract(x)`. @param {number} value */
    constant(value: number): import("./values.mjs").Value;
    /** The negative log-probability of each token in bits, at most 1e30. */
    surprise(): import("./values.mjs").Value;
    #private;
}
import type { Tracer } from './values.mjs';
