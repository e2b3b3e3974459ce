/** Samplers, which draw tokens, and probes, which read a row of logits without drawing. */

import { integer, integers, kindOf, number, wideInteger } from './_calls/checks.mjs';
import { checkedUse } from './_rules/use.mjs';
import { InvalidArgumentError, InvalidTypeError } from './errors.mjs';

/** @import { SentSampler, SentSlot } from './_calls/types.mjs' */
/** @import { RuleUse } from './_rules/use.mjs' */

const ARGMAX_TEMPERATURE = 1e-5;
const HIGHEST_TEMPERATURE = 1e30;
const LARGEST_PENALTY = 1e6;
const MOST_DRAWS = 2048;

/**
 * A seed makes the draws the same each time; without one they come from the context's own random stream.
 * @typedef {{ seed?: number | bigint }} SeedOptions
 */

/**
 * How logits change before a draw. `frequency` and `presence` are OpenAI's: they count the tokens that were generated.
 * `repetition` is Hugging Face's: it counts the prompt as well. `bias` is added to the logits of token ids. A Generator
 * counts from its own beginning, unless `since` names a slot.
 * @typedef {object} Penalties
 * @property {number} [frequency]
 * @property {number} [presence]
 * @property {number} [repetition]
 * @property {ReadonlyMap<number, number> | Record<number, number>} [bias]
 * @property {number} [since]
 */

/**
 * How a token is drawn. Every filter acts on the unfiltered probabilities and keeps at least one token. Throws
 * InvalidTypeError for anything but a number, InvalidArgumentError for one outside its range.
 */
export class Sampler {
  /** The sampler as calls have it. @type {Readonly<SentSampler>} @internal */
  read;

  /** Use `Sampler.argmax()` or another of it. @param {Omit<SentSampler, 'read'>} fields @internal */
  constructor(fields) {
    this.read = Object.freeze({ read: /** @type {const} */ ('sampler'), ...fields });
    check(this.read);
  }

  /** The largest logit; ties go to the lowest id. */
  static argmax() {
    return new Sampler({});
  }

  /**
   * A draw from the shortest prefix of the sorted tokens whose mass reaches `p`.
   * @param {number} [temperature]
   * @param {number} [p]
   * @param {SeedOptions} [options]
   */
  static topP(temperature = 0.6, p = 0.95, options = {}) {
    return new Sampler({ temperature, p, ...seedOf(options) });
  }

  /**
   * A draw from the `k` most likely tokens.
   * @param {number} [temperature]
   * @param {number} [k]
   * @param {SeedOptions} [options]
   */
  static topK(temperature = 0.6, k = 40, options = {}) {
    return new Sampler({ temperature, k, ...seedOf(options) });
  }

  /**
   * A draw from the tokens at least `p` times as likely as the most likely one.
   * @param {number} [temperature]
   * @param {number} [p]
   * @param {SeedOptions} [options]
   */
  static minP(temperature = 0.6, p = 0.1, options = {}) {
    return new Sampler({ temperature, min_probability: p, ...seedOf(options) });
  }

  /**
   * Both filters, each on the unfiltered probabilities.
   * @param {number} [temperature]
   * @param {number} [k]
   * @param {number} [p]
   * @param {SeedOptions} [options]
   */
  static topKTopP(temperature = 0.6, k = 40, p = 0.95, options = {}) {
    return new Sampler({ temperature, k, p, ...seedOf(options) });
  }

  /**
   * `draws` independent draws from the whole distribution.
   * @param {number} [temperature]
   * @param {number} [draws]
   * @param {SeedOptions} [options]
   */
  static multinomial(temperature = 1, draws = 1, options = {}) {
    return new Sampler({ temperature, draws, ...seedOf(options) });
  }

  /**
   * The same draws from logits with penalties.
   * @param {Penalties} penalties
   */
  penalized({ frequency = 0, presence = 0, repetition = 1, bias = {}, since } = {}) {
    const pairs =
      bias instanceof Map ? [...bias] : Object.entries(bias).map(([token, value]) => [Number(token), value]);
    return new Sampler({
      ...this.read,
      frequency_penalty: frequency,
      presence_penalty: presence,
      repetition_penalty: repetition,
      logit_bias: new Map(/** @type {[number, number][]} */ (pairs)),
      since: since ?? null,
    });
  }

  /** The same draws, each with its log-probability: `out.logprobs(handle)` and `generator.score`. */
  scored() {
    return new Sampler({ ...this.read, scores: true });
  }

  /**
   * The same draws from logits that a rule changed first: `Sampler.multinomial().ruled(rules.minP({ p: 0.1 }))`. A rule with
   * states draws one token at a time. Throws InvalidTypeError for anything but a rule that was called.
   * @param {RuleUse | undefined} rule
   */
  ruled(rule) {
    return new Sampler({ ...this.read, rule: rule === undefined ? null : checkedUse(rule) });
  }

  /** What it was `ruled` by; its `state` is what the next draw gets. */
  get rule() {
    return /** @type {RuleUse | undefined} */ (this.read.rule ?? undefined);
  }

  /**
   * The sampler of the next token, whose rule is given the states that the last draw left: `output.states(handle).at(-1)`.
   * @param {readonly number[]} states
   */
  after(states) {
    return this.rule === undefined ? this : this.ruled(this.rule.after(states));
  }

  /** Whether it takes the largest logit. */
  get isArgmax() {
    return (this.read.temperature ?? 0) <= ARGMAX_TEMPERATURE;
  }

  /** Whether it depends on which tokens the text before has. @internal */
  get countsTokens() {
    const {
      frequency_penalty: frequency = 0,
      presence_penalty: presence = 0,
      repetition_penalty: repetition = 1,
    } = this.read;
    return frequency !== 0 || presence !== 0 || repetition !== 1 || this.rule?.countsTokens === true;
  }
}

/** @param {SeedOptions} options */
function seedOf({ seed }) {
  return seed === undefined || seed === null ? {} : { seed: wideInteger(seed, 'sampler: seed') };
}

/** @param {SentSampler} read */
function check(read) {
  const { temperature = 0, p = 1, min_probability: floor = 0, k = 0, draws = 1 } = read;
  for (const [name, value] of Object.entries({ temperature, p, min_p: floor })) number(value, `sampler: ${name}`);
  integer(k, 'sampler: k');
  integer(draws, 'sampler: draws');
  refuseUnless(temperature >= 0 && temperature <= HIGHEST_TEMPERATURE, 'temperature must lie in [0, 1e+30]', read);
  refuseUnless(k >= 0, 'k must be at least 0 (0 keeps all)', read);
  refuseUnless(p >= 0 && p <= 1 && floor >= 0 && floor <= 1, 'p and min_p must lie in [0, 1]', read);
  refuseUnless(draws >= 1 && draws <= MOST_DRAWS, `draws must lie in [1, ${MOST_DRAWS}]`, read);
  checkPenalties(read);
}

/** @param {SentSampler} read */
function checkPenalties(read) {
  const { frequency_penalty: frequency = 0, presence_penalty: presence = 0, repetition_penalty: repetition = 1 } = read;
  const bias = /** @type {ReadonlyMap<number, number>} */ (read.logit_bias ?? new Map());
  for (const token of bias.keys()) integer(token, 'sampler: bias');
  for (const value of [frequency, presence, repetition, ...bias.values()]) {
    number(value, 'sampler: penalty');
    refuseUnless(Math.abs(value) <= LARGEST_PENALTY, `penalties and biases must lie in [-1e6, 1e6]`, read);
  }
  refuseUnless(repetition >= 1 / LARGEST_PENALTY, 'repetition must be at least 1e-6', read);
  if (read.since != null) refuseUnless(integer(read.since, 'sampler: since') >= 0, 'since must be at least 0', read);
}

/** @param {boolean} holds @param {string} rule @param {SentSampler} read */
function refuseUnless(holds, rule, { read: _, ...fields }) {
  if (holds) return;
  const { logit_bias: bias, rule: changed, ...rest } = fields;
  const shown = Object.entries(rest).map(([name, value]) => `${name}=${value}`);
  throw new InvalidArgumentError(`sampler: ${rule}, got ${shown.join(', ')}`, {
    hint: "correct the sampler's arguments",
  });
}

/**
 * A reading of one row of logits: `Logits()`, `Distribution(...)`, `Logprob(...)`, `Logprobs(...)`, `Entropy()`,
 * `HiddenState()`, `HiddenMean()` or `AttentionScores()`.
 */
export class Probe {
  /** The probe as calls have it. @type {Readonly<SentSlot['read']>} @internal */
  read;

  /** @param {SentSlot['read']} read @internal */
  constructor(read) {
    this.read = Object.freeze(read);
  }
}

/** The row itself: vocabulary float32 values before temperature and masks, read by `out.logits`. */
export function Logits() {
  return new Probe({ read: 'logits' });
}

/**
 * The `k` most likely tokens and their share of the full softmax, read by `out.distribution`; `k` 0 is the whole
 * vocabulary.
 * @param {number} [temperature]
 * @param {number} [k]
 */
export function Distribution(temperature = 1, k = 0) {
  number(temperature, 'Distribution: temperature');
  return new Probe({ read: 'distribution', temperature, k: integer(k, 'Distribution: k') });
}

/**
 * The natural log-probability of one token at temperature 1, read by `out.logprobs`.
 * @param {number} token
 */
export function Logprob(token) {
  return new Probe({ read: 'logprob', token_id: integer(token, 'Logprob: token') });
}

/**
 * The natural log-probabilities of several tokens at temperature 1, in the order given, read by `out.logprobs`.
 * @param {Iterable<number>} tokens
 */
export function Logprobs(tokens) {
  return new Probe({ read: 'logprobs', token_ids: integers(tokens, 'Logprobs: tokens') });
}

/** The entropy of the row at temperature 1, in nats, read by `out.entropy`. */
export function Entropy() {
  return new Probe({ read: 'entropy' });
}

/** The row's final hidden state, after the last norm, read by `out.hiddenState`. */
export function HiddenState() {
  return new Probe({ read: 'hidden_state' });
}

/**
 * The mean of the final hidden states of a pass's own inputs, from the probe's input to the last, read by
 * `out.hiddenState`. A pass that reads it reads nothing else.
 */
export function HiddenMean() {
  return new Probe({ read: 'hidden_mean' });
}

/**
 * How much attention the last `rows` inputs up to the probe's own, at most 64, pay to each page of the context: the sum
 * over the rows, as a mean over the query heads of all attention layers; `byGroup` for each KV head of each layer. Read
 * by `out.attentionScores`.
 * @param {{ rows?: number, byGroup?: boolean }} [options]
 */
export function AttentionScores({ rows = 1, byGroup = false } = {}) {
  if (typeof byGroup !== 'boolean') {
    throw new InvalidTypeError(`AttentionScores: byGroup: got ${kindOf(byGroup)}`, { hint: 'pass true or false' });
  }
  const checked = integer(rows, 'AttentionScores: rows');
  return new Probe({ read: 'attention_scores', rows: checked, by_group: byGroup });
}

/** @param {unknown} sampler @returns {Sampler} */
export function checkedSampler(sampler) {
  if (sampler instanceof Sampler) return sampler;
  throw new InvalidTypeError(`sampler: got ${kindOf(sampler)}`, { hint: 'use Sampler.argmax() or another of it' });
}

/** @param {unknown} probe @returns {Probe} */
export function checkedProbe(probe) {
  if (probe instanceof Probe) return probe;
  const hint = 'use Logits(), Distribution(), Logprob(), Logprobs(), Entropy(), HiddenState(), HiddenMean() or AttentionScores()';
  throw new InvalidTypeError(`probe: got ${kindOf(probe)}`, { hint });
}

/** A sampler that draws one token. @param {unknown} sampler */
export function singleDraw(sampler) {
  const found = checkedSampler(sampler);
  const draws = found.read.draws ?? 1;
  if (draws === 1) return found;
  const message = `generate: the sampler draws ${draws} tokens at once`;
  throw new InvalidArgumentError(message, { hint: 'a Generator needs one draw' });
}
