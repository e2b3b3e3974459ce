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
export function adapterSeed(forward: Forward, seed: number | bigint): void;
/**
 * Fresh weights, which change nothing yet, and a strategy around them. Throws InvalidArgumentError for numbers out of
 * range and for targets the model does not have, and InvalidTypeError for a single name.
 * @param {Adapter} adapter
 * @param {EvolutionOptions} [options]
 */
export function initialize(adapter: Adapter, options?: EvolutionOptions): void;
/**
 * One generation: the scores of the population by seed, higher is better. Throws InvalidArgumentError when their
 * numbers are not the population's, a score is not finite, seeds repeat or one is 0.
 * @param {Adapter} adapter
 * @param {Iterable<number>} scores
 * @param {Iterable<number | bigint>} seeds
 * @param {number} maxSigma
 */
export function update(adapter: Adapter, scores: Iterable<number>, seeds: Iterable<number | bigint>, maxSigma: number): void;
/**
 * A strategy. `targets` are names of projections in every block. The best `muFraction` of a population are recombined.
 */
export type EvolutionOptions = {
    rank?: number | undefined;
    alpha?: number | undefined;
    populationSize?: number | undefined;
    muFraction?: number | undefined;
    initialSigma?: number | undefined;
    targets?: Iterable<string> | undefined;
};
import type { Forward } from './forward.mjs';
import type { Adapter } from './adapter.mjs';
