/** What a rule sees of the row that it changes. */

import { FORBIDDEN } from './operations.mjs';
import { minimum } from './values.mjs';

/** @import { Tracer } from './values.mjs' */

/**
 * One row of logits and what is known of it. With `candidates` a row holds the most likely tokens, the likeliest first,
 * instead of the vocabulary.
 */
export class Row {
  #tracer;

  /** @param {Tracer} tracer @internal */
  constructor(tracer) {
    this.#tracer = tracer;
  }

  /** The logits after penalties and masks, -1e30 for tokens that may not be drawn. */
  get logits() {
    return this.#tracer.add('logits');
  }

  /** Their natural log-probabilities at temperature 1, among all tokens. */
  get logProbabilities() {
    return this.logits.subtract(this.#tracer.add('log_total'));
  }

  /** Their probabilities at temperature 1, among all tokens. */
  get probabilities() {
    return this.logProbabilities.exp();
  }

  /** In nats, one number; of the candidates alone where there are any. */
  get entropy() {
    return this.probabilities.multiply(this.logProbabilities).sum().negate();
  }

  /** The token ids, a row of integers. */
  get tokens() {
    return this.#tracer.add('token');
  }

  /** The token that the row continues, an integer. */
  get previous() {
    return this.#tracer.add('previous');
  }

  /** The token that is drawn from the new row, an integer: for states alone. */
  get drawn() {
    return this.#tracer.add('drawn');
  }

  /** Which tokens may be drawn, a row of conditions. */
  get allowed() {
    return this.logits.greater(FORBIDDEN / 10);
  }

  /** Which tokens the text has, a row of conditions. */
  get seen() {
    return this.#tracer.add('seen');
  }

  /** How often each token was generated since the Generator began, a row. */
  get generated() {
    return this.#tracer.add('generated');
  }

  /**
   * How many of the text's last tokens stood before an earlier occurrence of each token, the longest such match: what the
   * token would repeat. At most 50, of the last 1,024 tokens; a row. `brokenAt` of the rule's use names tokens at which
   * repetitions end.
   */
  get repeated() {
    return this.#tracer.add('repeated');
  }

  /** A number of [0, 1) of the context's own random stream, another one than that of the draw. */
  get random() {
    return this.#tracer.add('random');
  }

  /**
   * The row's final hidden state after the last norm, as the output head gets it: a vector as wide as the model. What a
   * hidden-state probe reads.
   */
  get hiddenState() {
    return this.#tracer.add('hidden');
  }

  /** A constant vector. All constants of a rule have at most 65,536 numbers. @param {Iterable<number>} values */
  vector(values) {
    return this.#tracer.vector(values);
  }

  /** A number as a value, for what a number has no methods for: `row.constant(1).subtract(x)`. @param {number} value */
  constant(value) {
    return this.#tracer.floating(value);
  }

  /** The negative log-probability of each token in bits, at most 1e30. */
  surprise() {
    return minimum(this.logProbabilities.multiply(-1 / Math.log(2)), -FORBIDDEN);
  }
}
