/** Traces rules, and prints what they are as samplers send them, what the mistakes of others are, and what is measured. */

import { withEnd } from '../../../pie_mlx/javascript/inferlet/_rules/joining.mjs';
import { PieError } from '../../../pie_mlx/javascript/inferlet/errors.mjs';
import { rule, rules, Sampler } from '../../../pie_mlx/javascript/inferlet/index.mjs';

const { hashUniform, scatter, vector, where, whole } = rules;

const unsure = rule(
  function unsure(row, { nats }) {
    return row.entropy.greater(nats);
  },
  { parameters: { nats: 3 } },
);
const spent = rule(
  function spent(row, { doubt, budget }) {
    const total = doubt.add(row.entropy);
    return { until: total.greater(budget), states: { doubt: total } };
  },
  { parameters: { doubt: 0, budget: 4 } },
);

const probed = rule(
  function probed(row, { towards, most }) {
    const classes = row.hiddenState.matmul([[1, 0.5, -2], [0, 1, 1]]).add(row.vector([0.25, 1]));
    const share = classes.subtract(classes.logSumExp()).exp().at(1);
    return { until: share.add(row.hiddenState.dot(towards)).greater(most) };
  },
  { parameters: { towards: vector(), most: 2 } },
);
const along = rule((row) => row.hiddenState.dot([0.25, 1, 3]).greater(0));

const USES = {
  probed: probed({ towards: [1, 2, 0.1] }),
  probedTwice: withEnd(
    rule((row) => row.logits.multiply(row.hiddenState.dot([1, 1, 1])))(),
    probed({ towards: Float32Array.of(0, -1, 2), most: 1 }),
  ),
  guidance: rules.guidance({ scale: 2 }),
  contrastive: rules.contrastive({ plausible: 0.2 }),
  mixture: rules.mixture(),
  product: rules.product({ weight: 0.3 }),
  ofThree: rule(
    function ofThree(row, _, { second, third }) {
      const { logits } = row;
      const joined = logits.add(second.logProbabilities.multiply(third.probabilities.sum()));
      return joined.subtract(third.entropy.add(third.hiddenState.max()));
    },
    { candidates: 8, others: ['second', 'third'] },
  )(),
  unsure: unsure({ nats: 2 }),
  joined: withEnd(rules.mirostat({ tau: 2, rate: 0.3 }), spent({ budget: 9 })),
  minP: rules.minP(),
  topNSigma: rules.topNSigma({ n: 1.5 }),
  eta: rules.eta({ epsilon: 1e-3 }),
  typical: rules.typical({ mass: 0.8 }),
  xtc: rules.xtc({ threshold: 0.02 }),
  entropyTemperature: rules.entropyTemperature({ sure: 0.5 }),
  mirostat: rules.mirostat({ tau: 2, rate: 0.3 }),
  watermark: rules.watermark({ key: 7 }),
  dry: rules.dry({ multiplier: 2 }),
  dryBroken: rules.dry({ allowed: 3, breakers: [70, 9, 70] }),
  entropyGate: rules.entropyGate({ token: 5, pause: 9 }),
  everything: rule(
    function everything(row, { total, key }) {
      const { logits, tokens, generated, seen } = row;
      const sums = generated.cumulativeSum().add(tokens.toFloat()).subtract(logits.mean());
      const same = tokens.equals(row.previous).or(tokens.equals(3)).and(seen.not());
      const changed = where(same, rules.maximum(sums, -0), logits.toInteger().toFloat());
      const apart = scatter(changed.log().abs(), tokens, row.repeated.at(tokens));
      return {
        logits: row.constant(1).subtract(apart),
        states: { total: total.add(row.drawn.toFloat()), key: row.drawn },
        until: total.equals(10),
      };
    },
    { parameters: { total: undefined, key: whole(3) }, candidates: 32 },
  )({ total: 1 }),
};

const two = rule((row, { factor, shift }) => row.logits.multiply(factor).add(shift), {
  parameters: { factor: undefined, shift: 1 },
});

const MISTAKES = {
  scores_one_token: () => rules.watermarkZScore([5], 7),
  votes_for_nothing: () => rules.vote([null]),
  ends_nothing: () => withEnd(undefined, rules.eta()),
  ends_twice: () => withEnd(unsure(), spent()),
  ends_and_changes: () => withEnd(undefined, rule((row) => ({ logits: row.logits.divide(2), until: row.entropy.greater(1) }))()),
  breaks_elsewhere: () => withEnd(rules.dry({ breakers: [3] }), rule((row) => row.repeated.max().greater(4))()),
  breaks_at_a_text: () => rules.dry({ breakers: ['\n'] }),
  sees_other_candidates: () => withEnd(rules.typical(), unsure()),
  branches: () => rule((row) => (row.entropy > 1 ? row.logits : row.logits.divide(2))),
  loops_without_end: () =>
    rule((row) => {
      for (let value = row.logits; ; ) value = value.exp();
    }),
  loops: () => rule((row) => [...row.logits][0]),
  adds_conditions: () => rule((row) => row.logits.add(row.seen)),
  sums_a_number: () => rule((row) => row.logits.subtract(row.entropy.sum())),
  joins_numbers: () => rule((row) => where(row.logits.and(row.seen), row.logits, 0)),
  adds_a_text: () => rule((row) => row.logits.add('1')),
  adds_nan: () => rule((row) => row.logits.add(NaN)),
  adds_integers: () => rule((row) => row.logits.add(row.tokens)),
  hashes_floats: () => rule((row) => row.logits.add(hashUniform(row.logits, row.previous, 3))),
  takes_a_fraction: () => rule((row) => row.logits.add(row.logits.at(0.5))),
  answers_a_number: () => rule(function answer(row) { return row.entropy; }),
  answers_nothing: () => rule(function answer() {}),
  forgets: () => rule(function forgets(row) { return { logits: row.logits, states: { mu: row.entropy } }; }),
  carries_a_row: () => rule(function carries(row, { mu }) { return { logits: row.logits, states: { mu: row.logits.add(mu) } }; }, { parameters: { mu: 1 } }),
  lacks_a_parameter: () => two(),
  misspells_a_parameter: () => two({ factor: 1, shfit: 2 }),
  passes_a_text: () => two({ factor: '2' }),
  defaults_to_a_text: () => rule(function odd(row) { return row.logits; }, { parameters: { p: '1' } }),
  multiplies_a_row: () => rule((row) => row.logits.matmul([[1, 2]])),
  adds_a_vector_to_a_row: () => rule((row) => row.logits.add(row.hiddenState)),
  takes_vectors_of_two_widths: () => rule((row) => row.hiddenState.dot([1, 2]).add(row.hiddenState.dot([1, 2, 3])).greater(0)),
  multiplies_uneven_rows: () => rule((row) => row.hiddenState.matmul([[1, 2], [1]]).sum().greater(0)),
  has_10_mb_of_constants: () => rule((row) => row.hiddenState.dot(new Float32Array(2_621_440)).greater(0)),
  has_a_nan_weight: () => rule((row) => row.hiddenState.dot([NaN]).greater(0)),
  adds_a_list: () => rule((row) => row.hiddenState.add([1, 2]).sum().greater(0)),
  lacks_a_vector: () => probed(),
  passes_a_number_for_a_vector: () => probed({ towards: 3 }),
  is_not_called: () => Sampler.argmax().ruled(rules.typical),
};

function mistake(act) {
  try {
    const made = act();
    if (typeof made === 'function') made();
  } catch (error) {
    if (error instanceof PieError) return [error.code, error.message, error.hint];
    throw error;
  }
  return undefined;
}

function hex(bytes) {
  return Buffer.from(bytes).toString('hex');
}

function sent({ code, parameters, state, vectors }) {
  const numbers = Object.entries(vectors).map(([name, data]) => [name, hex(data)]);
  return { code: hex(code), parameters, state, vectors: Object.fromEntries(numbers) };
}

const line = Number(/:(\d+):/.exec(new Error().stack)[1]);
const there = rule((row) => row.logits.divide(2))();
const ruled = Sampler.multinomial(0.8).ruled(USES.mirostat);
console.log(
  JSON.stringify({
    uses: Object.fromEntries(Object.entries(USES).map(([name, use]) => [name, sent(use)])),
    mistakes: Object.fromEntries(Object.entries(MISTAKES).map(([name, act]) => [name, mistake(act)])),
    line: [line + 1, sent(there)],
    withVectors: Object.keys(along().after([]).vectors).length + Object.keys(USES.probed.after([]).vectors).length,
    after: sent(ruled.after([2.5]).rule),
    without: ruled.ruled(undefined).rule ?? null,
    vote: rules.vote(['b', 'a', null, 'a', 'b']),
    counts: [USES.minP, USES.dry, USES.everything].map((use) => Sampler.argmax().ruled(use).countsTokens),
    green: [rules.greenShare([5, 900, 3, 70_000, 12, 5], 7), rules.greenShare(Uint32Array.of(1, 2, 3), 2 ** 24 - 1, 0.5)],
    scores: [rules.watermarkZScore([5, 900, 3, 900, 3, 12, 5], 7), rules.watermarkZScore(Uint32Array.of(1, 2, 3), 9, 0.5)],
  }),
);
