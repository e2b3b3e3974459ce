/**
 * Sampling rules that run on the device, and what to write one with: `Sampler.multinomial(0.8).ruled(rules.typical())`.
 * Each changes a row of logits; the sampler then draws from it, with its own temperature and filters.
 */

import { integers } from './_calls/checks.mjs';
import { rule, whole } from './_rules/definition.mjs';
import { hashUniform, massThreshold, minimum, where } from './_rules/values.mjs';
import { InvalidArgumentError } from './errors.mjs';

export { rule, vector, whole } from './_rules/definition.mjs';
export { OtherRow } from './_rules/other_row.mjs';
export { Row } from './_rules/row.mjs';
export { RuleUse } from './_rules/use.mjs';
export { hashUniform, massThreshold, maximum, minimum, scatter, Value, where } from './_rules/values.mjs';

/**
 * Keeps tokens at least `p` times as likely as the likeliest (Nguyen et al. 2024, arXiv 2407.01082). The same as
 * `Sampler.minP` at temperature 1; here it comes before the sampler's temperature.
 */
export const minP = rule(
  function minP(row, { p }) {
    const { logits } = row;
    return where(logits.greaterEqual(logits.max().add(p.log())), logits, -Infinity);
  },
  { parameters: { p: 0.05 } },
);

/**
 * Keeps logits at most `n` standard deviations below the largest (Tang et al. 2024, arXiv 2411.07641). The deviation is
 * that of the tokens that may be drawn.
 */
export const topNSigma = rule(
  function topNSigma(row, { n }) {
    const count = where(row.allowed, 1, 0).sum();
    const mean = where(row.allowed, row.logits, 0).sum().divide(count);
    const apart = where(row.allowed, row.logits.subtract(mean), 0);
    const most = row.logits.max();
    const deviation = apart.multiply(apart).sum().divide(count).sqrt();
    return where(row.logits.greaterEqual(most.subtract(n.multiply(deviation))), row.logits, -Infinity);
  },
  { parameters: { n: 1 } },
);

/**
 * Cuts tokens less likely than `epsilon` and than sqrt(epsilon)·exp(-entropy) (Hewitt et al. 2022, arXiv 2210.15191). The
 * likeliest token always stays.
 */
export const eta = rule(
  function eta(row, { epsilon }) {
    const logs = row.logProbabilities;
    const least = minimum(epsilon.log(), row.constant(0.5).multiply(epsilon.log()).subtract(row.entropy));
    return where(logs.greaterEqual(minimum(least, logs.max())), row.logits, -Infinity);
  },
  { parameters: { epsilon: 3e-4 } },
);

/**
 * Keeps the tokens whose surprise is closest to the entropy, up to a share `mass` of the probability (Meister et al. 2022,
 * arXiv 2202.00666), among the 256 likeliest.
 */
export const typical = rule(
  function typical(row, { mass }) {
    const [p, surprise] = [row.probabilities, row.logProbabilities.negate()];
    const share = p.divide(p.sum());
    const unusual = surprise.subtract(share.multiply(surprise).sum()).abs();
    return where(unusual.lessEqual(massThreshold(unusual, share, mass)), row.logits, -Infinity);
  },
  { parameters: { mass: 0.9 }, candidates: 256 },
);

/**
 * Excludes the top choices: with this `probability` all tokens likelier than `threshold` except the least likely of them
 * (p-e-w 2024, text-generation-webui 6335).
 */
export const xtc = rule(
  function xtc(row, { threshold, probability }) {
    const p = row.probabilities;
    const over = p.greaterEqual(threshold);
    const least = where(over, p, Infinity).min();
    const several = where(over, 1, 0).sum().greaterEqual(2);
    const excluded = over.and(p.greater(least)).and(several).and(row.random.less(probability));
    return where(excluded, -Infinity, row.logits);
  },
  { parameters: { threshold: 0.1, probability: 0.5 }, candidates: 256 },
);

/**
 * One temperature where the entropy exceeds `nats`, another elsewhere (after Zhang et al. 2024, arXiv 2403.14541). Give the
 * sampler temperature 1.
 */
export const entropyTemperature = rule(
  function entropyTemperature(row, { nats, unsure, sure }) {
    const { logits } = row;
    return logits.divide(where(row.entropy.greater(nats), unsure, sure));
  },
  { parameters: { nats: 2, unsure: 1.2, sure: 0.3 } },
);

const repeats = rule(
  function dry(row, { multiplier, base, allowed }) {
    const penalty = multiplier.multiply(row.repeated.subtract(allowed).multiply(base.log()).exp());
    return where(row.repeated.greaterEqual(allowed), row.logits.subtract(penalty), row.logits);
  },
  { parameters: { multiplier: undefined, base: undefined, allowed: undefined } },
);

/**
 * Lowers tokens that would make a repetition of n tokens longer by multiplier·base^(n - allowed), from n = allowed on
 * (p-e-w 2024, text-generation-webui 5677). It looks at `row.repeated`, which ends at the sequence `breakers`, at most 256
 * tokens: those of a line break, a colon, a quotation mark or an asterisk there.
 * @param {{ multiplier?: number, base?: number, allowed?: number, breakers?: Iterable<number> }} [parameters]
 */
export function dry({ multiplier = 0.8, base = 1.75, allowed = 2, breakers = [] } = {}) {
  return repeats({ multiplier, base, allowed }).brokenAt(breakers);
}

const gate = rule(
  function entropyGate(row, { wait, token, nats, bonus, pause }) {
    const isUnsure = row.tokens.equals(token).and(row.allowed).and(row.entropy.greater(nats));
    const logits = where(isUnsure.and(row.constant(0).greaterEqual(wait)), row.logits.max().add(bonus), row.logits);
    return { logits, states: { wait: where(row.drawn.equals(token), pause, wait.subtract(1)) } };
  },
  { parameters: { wait: undefined, token: whole(), nats: undefined, bonus: undefined, pause: undefined } },
);

/**
 * Think more here: where the entropy exceeds `nats`, the logit of `token` is `bonus` above the largest; once drawn, not
 * again for `pause` tokens. With the token of "Wait" this is the budget forcing of Muennighoff et al. 2025 (arXiv
 * 2501.19393), where the model is unsure.
 * @param {{ token: number, nats?: number, bonus?: number, pause?: number }} parameters
 */
export function entropyGate({ token, nats = 2, bonus = 3, pause = 32 }) {
  return gate({ wait: 0, token, nats, bonus, pause });
}

const steered = rule(
  function mirostat(row, { mu, tau, rate }) {
    const logs = row.logProbabilities;
    const logits = where(logs.greaterEqual(minimum(mu.multiply(-Math.log(2)), logs.max())), logs, -Infinity);
    const observed = logits.logSumExp().subtract(logits.at(row.drawn)).divide(Math.log(2));
    return { logits, states: { mu: mu.subtract(rate.multiply(observed.subtract(tau))) } };
  },
  { parameters: { mu: undefined, tau: undefined, rate: undefined } },
);

/**
 * Cuts tokens that surprise by more than `mu` bits, and moves `mu` at the given `rate` so that the text surprises by `tau`
 * bits a token (Basu et al. 2021, arXiv 2007.14966, version 2). `mu` begins at 2·tau. Give the sampler temperature 1.
 * @param {{ tau?: number, rate?: number, mu?: number }} [parameters]
 */
export function mirostat({ tau = 3, rate = 0.1, mu = 2 * tau } = {}) {
  return steered({ mu, tau, rate });
}

/**
 * Raises by `delta` the logits of a share `gamma` of the vocabulary, which the previous token and the `key` choose
 * (Kirchenbauer et al. 2023, arXiv 2301.10226). `watermarkZScore` finds it again. Keys have 24 bits.
 */
export const watermark = rule(
  function watermark(row, { key, gamma, delta }) {
    const { logits } = row;
    return logits.add(where(hashUniform(row.tokens, row.previous, key).less(gamma), delta, 0));
  },
  { parameters: { key: whole(), gamma: 0.25, delta: 2 } },
);

/**
 * Classifier-free guidance (Sanchez et al. 2023, arXiv 2306.17806): moves the logits away from those of a context without
 * the instruction, or with the opposite one. `scale` 1 changes nothing, 0 is the other context's text.
 */
export const guidance = rule(
  function guidance(row, { scale }, { unguided }) {
    return unguided.logits.add(scale.multiply(row.logits.subtract(unguided.logits)));
  },
  { parameters: { scale: 1.5 }, others: ['unguided'] },
);

/**
 * Contrastive decoding: of the tokens at least `plausible` times as likely as the likeliest (Li et al. 2022, arXiv
 * 2210.15097), those that an amateur finds less likely gain: (1 + strength)·expert - strength·amateur (O'Brien and Lewis
 * 2023, arXiv 2309.09117). The amateur is a context with less to go on, or without the expert's adapter.
 */
export const contrastive = rule(
  function contrastive(row, { plausible, strength }, { amateur }) {
    const kept = row.logits.greaterEqual(row.logits.max().add(plausible.log()));
    return where(kept, row.logits.add(strength.multiply(row.logits.subtract(amateur.logits))), -Infinity);
  },
  { parameters: { plausible: 0.1, strength: 0.5 }, others: ['amateur'] },
);

/** The mean of the probabilities of two contexts, the first with this `weight`: what either finds likely. */
export const mixture = rule(
  function mixture(row, { weight }, { other }) {
    const own = weight.multiply(row.probabilities);
    return own.add(row.constant(1).subtract(weight).multiply(other.probabilities)).log();
  },
  { parameters: { weight: 0.5 }, others: ['other'] },
);

/**
 * The geometric mean of the probabilities of two contexts, a product of experts (Hinton 2002): what both find likely.
 */
export const product = rule(
  function product(row, { weight }, { other }) {
    return weight.multiply(row.logits).add(row.constant(1).subtract(weight).multiply(other.logits));
  },
  { parameters: { weight: 0.5 }, others: ['other'] },
);

/**
 * The answer that most texts of one prompt agree on, and its share (self-consistency, Wang et al. 2022, arXiv
 * 2203.11171). The first of equally many wins; undefined and null abstain. Throws InvalidArgumentError where all do.
 * @template T
 * @param {Iterable<T | null | undefined>} answers
 * @returns {[NonNullable<T>, number]}
 */
export function vote(answers) {
  /** @type {Map<NonNullable<T>, number>} */
  const counts = new Map();
  for (const answer of answers)
    if (answer !== null && answer !== undefined) counts.set(answer, (counts.get(answer) ?? 0) + 1);
  const [first] = [...counts].toSorted((one, other) => other[1] - one[1]);
  if (first === undefined) throw new InvalidArgumentError('vote: no answer', { hint: 'give at least one' });
  return [first[0], first[1] / [...counts.values()].reduce((sum, count) => sum + count)];
}

/**
 * The share of green tokens in a text of at least two tokens, each after the one before it: about `gamma` without a
 * watermark of this key.
 * `watermarkZScore` says whether that is chance.
 * @param {Iterable<number>} tokens
 * @param {number} key
 * @param {number} [gamma]
 */
export function greenShare(tokens, key, gamma = 0.25) {
  return green(pairs(integers(tokens, 'greenShare: tokens')), key, gamma);
}

/**
 * By how many standard deviations a text has more green tokens than one without a watermark of this `key` (Kirchenbauer et
 * al. 2023, arXiv 2301.10226, equation 3). Above 4, chance is ruled out: 3 texts in 100,000 get there.
 *
 * A token counts once after each other one: a text that repeats itself has no more evidence (Fernandez et al. 2023, arXiv
 * 2308.00113). Throws InvalidArgumentError for fewer than two tokens.
 * @param {Iterable<number>} tokens
 * @param {number} key
 * @param {number} [gamma]
 */
export function watermarkZScore(tokens, key, gamma = 0.25) {
  const found = new Map(pairs(integers(tokens, 'watermarkZScore: tokens')).map((pair) => [pair.join(), pair]));
  if (!found.size)
    throw new InvalidArgumentError('watermarkZScore: the text has no pair of tokens', { hint: 'give at least two tokens' });
  return (green([...found.values()], key, gamma) - gamma) * Math.sqrt(found.size / (gamma * (1 - gamma)));
}

/** Each token with the one before it. @param {number[]} tokens @returns {[number, number][]} */
function pairs(tokens) {
  return tokens.slice(1).map((token, index) => [/** @type {number} */ (tokens[index]), token]);
}

/** @param {[number, number][]} found @param {number} key @param {number} gamma */
function green(found, key, gamma) {
  return found.filter(([previous, token]) => uniform(token, previous, key) < gamma).length / found.length;
}

/** `hashUniform` of numbers. @param {number[]} parts */
function uniform(...parts) {
  let mixed = 0x9e3779b9;
  for (const part of parts) {
    mixed = (mixed ^ part) >>> 0;
    for (const [factor, shift] of [[0x7feb352d, 15], [0x846ca68b, 16]]) {
      mixed = Math.imul(mixed ^ (mixed >>> 16), factor) >>> 0;
      mixed = (mixed ^ (mixed >>> shift)) >>> 0;
    }
  }
  return (mixed >>> 8) / 2 ** 24;
}
