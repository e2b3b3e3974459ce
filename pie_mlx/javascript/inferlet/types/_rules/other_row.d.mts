/** What a rule sees of the row of another context. */
/** @import { Tracer } from './values.mjs' */
/**
 * The row of logits of another context, which computes the same token as the row that the rule changes. Before penalties
 * and masks. With `candidates` it has the tokens of the row that is changed, in their order.
 */
export class OtherRow {
    private constructor();
    /** The logits that the other context gives, -1e30 for tokens that the model never gives. */
    get logits(): import("./values.mjs").Value;
    /** Their natural log-probabilities at temperature 1, among all tokens. */
    get logProbabilities(): import("./values.mjs").Value;
    /** Their probabilities at temperature 1, among all tokens. */
    get probabilities(): import("./values.mjs").Value;
    /** The final hidden state of the other row, as that of a row. */
    get hiddenState(): import("./values.mjs").Value;
    /** In nats, one number; of the candidates alone where there are any. */
    get entropy(): import("./values.mjs").Value;
    #private;
}
import type { Tracer } from './values.mjs';
