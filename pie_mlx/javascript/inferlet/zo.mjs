/**
 * Zero-order optimisation of adapters: evolution strategies, which need forward passes and scores, no gradients. The
 * noise is a pure function of the seed: the engine computes it again for the update.
 */

import { checkedText, integer, kindOf, number } from './_calls/checks.mjs';
import { callNow } from './_calls/host.mjs';
import { checkedSeed } from './adapter.mjs';
import { InvalidTypeError } from './errors.mjs';

/** @import { Adapter } from './adapter.mjs' */
/** @import { Forward } from './forward.mjs' */

/**
 * A strategy. `targets` are names of projections in every block. The best `muFraction` of a population are recombined.
 * @typedef {object} EvolutionOptions
 * @property {number} [rank]
 * @property {number} [alpha]
 * @property {number} [populationSize]
 * @property {number} [muFraction]
 * @property {number} [initialSigma]
 * @property {Iterable<string>} [targets]
 */

/**
 * Compute the pass with the noise of `seed` on its adapter.
 * @param {Forward} forward
 * @param {number | bigint} seed
 */
export function adapterSeed(forward, seed) {
  forward.zoSeed(seed);
}

/**
 * Fresh weights, which change nothing yet, and a strategy around them. Throws InvalidArgumentError for numbers out of
 * range and for targets the model does not have, and InvalidTypeError for a single name.
 * @param {Adapter} adapter
 * @param {EvolutionOptions} [options]
 */
export function initialize(adapter, options = {}) {
  const { rank = 8, alpha = 16, populationSize = 16, muFraction = 0.5, initialSigma = 0.01 } = options;
  const { targets = ['q_proj', 'k_proj', 'v_proj'] } = options;
  if (typeof targets === 'string') {
    throw new InvalidTypeError(`targets: got ${kindOf(targets)} '${targets}'`, {
      hint: `pass an array: ['${targets}']`,
    });
  }
  const state = callNow('initialize_evolution', {
    adapter: adapter.id,
    rank: integer(rank, 'rank'),
    alpha: number(alpha, 'alpha'),
    population_size: integer(populationSize, 'populationSize'),
    mu_fraction: number(muFraction, 'muFraction'),
    initial_sigma: number(initialSigma, 'initialSigma'),
    targets: Array.from(targets, (target) => checkedText(target, 'target')),
  });
  adapter.learn(state);
}

/**
 * One generation: the scores of the population by seed, higher is better. Throws InvalidArgumentError when their
 * numbers are not the population's, a score is not finite, seeds repeat or one is 0.
 * @param {Adapter} adapter
 * @param {Iterable<number>} scores
 * @param {Iterable<number | bigint>} seeds
 * @param {number} maxSigma
 */
export function update(adapter, scores, seeds, maxSigma) {
  const state = callNow('update_evolution', {
    adapter: adapter.id,
    scores: Array.from(scores, (score) => number(score, 'score')),
    seeds: /** @type {number[]} */ (Array.from(seeds, checkedSeed)),
    max_sigma: number(maxSigma, 'maxSigma'),
  });
  adapter.learn(state);
}
