/** What a rule sees of the row of another context. */

/** @import { Tracer } from './values.mjs' */

/**
 * The row of logits of another context, which computes the same token as the row that the rule changes. Before penalties
 * and masks. With `candidates` it has the tokens of the row that is changed, in their order.
 */
export class OtherRow {
  #tracer;
  #name;

  /** @param {Tracer} tracer @param {string} name @internal */
  constructor(tracer, name) {
    this.#tracer = tracer;
    this.#name = name;
  }

  /** The logits that the other context gives, -1e30 for tokens that the model never gives. */
  get logits() {
    return this.#tracer.add('other_logits', [], { name: this.#name });
  }

  /** Their natural log-probabilities at temperature 1, among all tokens. */
  get logProbabilities() {
    return this.logits.subtract(this.#tracer.add('other_log_total', [], { name: this.#name }));
  }

  /** Their probabilities at temperature 1, among all tokens. */
  get probabilities() {
    return this.logProbabilities.exp();
  }

  /** The final hidden state of the other row, as that of a row. */
  get hiddenState() {
    return this.#tracer.add('other_hidden', [], { name: this.#name });
  }

  /** In nats, one number; of the candidates alone where there are any. */
  get entropy() {
    return this.probabilities.multiply(this.logProbabilities).sum().negate();
  }
}
