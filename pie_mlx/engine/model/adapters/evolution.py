"""Evolution strategies with diagonal covariance on the matrices of an adapter: initialise, perturb, update.

The formulas are those of separable CMA-ES (Ros, Hansen 2008), per layer of the model. Noise is counter-based (Z1-Z4).
"""

import math
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import mlx.core as mx
import numpy as np

from pie_mlx.engine.model.adapters.content import AdapterContent, EvolutionState, LowRank, Matrix
from pie_mlx.engine.model.adapters.philox import normals
from pie_mlx.engine.model.adapters.strategy import Strategy
from pie_mlx.engine.model.adapters.targets import Target
from pie_mlx.errors import InvalidArgumentError
from pie_mlx.metal.arrays import evaluate, from_host, to_host

VARIANCE_RANGE = (1e-6, 1e6)


def initial_content(
    targets: Mapping[str, Target],
    names: Sequence[str],
    *,
    rank: int,
    alpha: float,
    population_size: int,
    mu_fraction: float,
    initial_sigma: float,
) -> AdapterContent:
    """A new adapter on the projections with one of `names` in the model's blocks (Z1).

    Raises InvalidArgumentError for a name that no projection has.
    """
    chosen = [target for target in targets.values() if target.layer is not None and target.name in names]
    unknown = sorted(set(names) - {target.name for target in chosen})
    if unknown or not chosen:
        known = sorted({target.name for target in targets.values() if target.layer is not None})
        raise InvalidArgumentError(
            f"zo.initialize: the model has no projections {', '.join(unknown) or '(no targets given)'}",
            hint=f"it has {', '.join(known) or 'none'}",
        )
    additions = {target.path: _initial_pair(target, rank, alpha) for target in chosen}
    downs = {target.path: _initial_matrix(target, 0, additions[target.path].down) for target in chosen}
    ups = {target.path: _initial_matrix(target, 1, additions[target.path].up) for target in chosen}
    sigmas = {matrix.layer: initial_sigma for matrix in downs.values()}
    state = EvolutionState(population_size, mu_fraction, initial_sigma, downs, ups, sigmas)
    content = AdapterContent(additions, state)
    evaluate(content.arrays())
    return content


def perturbed(additions: Mapping[str, LowRank], state: EvolutionState, seed: int) -> dict[str, LowRank]:
    """The pairs with the noise of `seed` (Z2), not yet evaluated."""
    noise = _noise(state, seed)
    moved = {
        key: state.sigmas[matrix.layer] * mx.sqrt(matrix.variance) * noise[key]
        for key, matrix in _by_key(state).items()
    }
    return {
        path: LowRank(pair.down + moved[path, True], pair.up + moved[path, False], pair.scale)
        for path, pair in additions.items()
    }


def updated(
    content: AdapterContent, state: EvolutionState, scores: Sequence[float], seeds: Sequence[int], max_sigma: float
) -> AdapterContent:
    """The content after one generation (Z4). The caller has checked scores and seeds."""
    parents = max(1, math.floor(state.population_size * state.mu_fraction))
    best = sorted(range(len(seeds)), key=lambda place: -scores[place])[:parents]
    strategies = {layer: Strategy.of(size, parents) for layer, size in _sizes(state).items()}
    mean, squares = _recombined(state, [seeds[place] for place in best], Strategy.weights_of(parents))
    before = _by_key(state)
    after = {key: _moved(one, strategies[one.layer], mean[key], squares[key]) for key, one in before.items()}
    steps = {key: state.sigmas[one.layer] * mx.sqrt(one.variance) * mean[key] for key, one in before.items()}
    additions = {
        path: LowRank(pair.down + steps[path, True], pair.up + steps[path, False], pair.scale)
        for path, pair in content.additions.items()
    }
    moved = replace(
        state,
        downs={path: matrix for (path, is_down), matrix in after.items() if is_down},
        ups={path: matrix for (path, is_down), matrix in after.items() if not is_down},
        sigmas=_step_sizes(state, after.values(), strategies, max_sigma),
    )
    made = AdapterContent(additions, moved)
    evaluate(made.arrays())
    return made


def _sizes(state: EvolutionState) -> dict[int, int]:
    """Parameters by layer."""
    sizes: dict[int, int] = defaultdict(int)
    for _, _, matrix in state.matrices():
        sizes[matrix.layer] += matrix.variance.size
    return sizes


def _step_sizes(
    state: EvolutionState, matrices: Collection[Matrix], strategies: Mapping[int, Strategy], max_sigma: float
) -> dict[int, float]:
    sizes: dict[int, float] = {}
    for layer, before in state.sigmas.items():
        squares = [float(to_host(mx.sum(one.step_path**2))) for one in matrices if one.layer == layer]
        sizes[layer] = strategies[layer].sigma(before, math.sqrt(sum(squares)), state.initial_sigma, max_sigma)
    return sizes


def _moved(matrix: Matrix, strategy: Strategy, noise: mx.array, squared: mx.array) -> Matrix:
    """`noise` is the recombined noise, ȳ / √C; `squared` its recombined squares, Σ w y² / C."""
    step_path = strategy.keep_step * matrix.step_path + strategy.take_step * noise
    mean = mx.sqrt(matrix.variance) * noise
    shape_path = strategy.keep_shape * matrix.shape_path + strategy.take_shape * mean
    variance = (
        strategy.keep_variance * matrix.variance
        + strategy.rank_one * shape_path**2
        + strategy.rank_mu * matrix.variance * squared
    )
    return replace(matrix, variance=mx.clip(variance, *VARIANCE_RANGE), step_path=step_path, shape_path=shape_path)


def _recombined(
    state: EvolutionState, seeds: Sequence[int], weights: Sequence[float]
) -> tuple[dict[tuple[str, bool], mx.array], dict[tuple[str, bool], mx.array]]:
    """Weighted sums of the noise, and of its squares, over the best seeds, best first."""
    mean: dict[tuple[str, bool], mx.array] = {}
    squares: dict[tuple[str, bool], mx.array] = {}
    for weight, seed in zip(weights, seeds, strict=True):
        for key, noise in _noise(state, seed).items():
            mean[key] = mean.get(key, mx.zeros_like(noise)) + weight * noise
            squares[key] = squares.get(key, mx.zeros_like(noise)) + weight * noise**2
        evaluate(list(mean.values()), list(squares.values()))  # one seed's noise in memory at a time
    return mean, squares


def _by_key(state: EvolutionState) -> dict[tuple[str, bool], Matrix]:
    return {(path, is_down): matrix for path, is_down, matrix in state.matrices()}


def _noise(state: EvolutionState, seed: int) -> dict[tuple[str, bool], mx.array]:
    """N(seed, ·) for every matrix, in one run of the generator."""
    matrices = state.matrices()
    counts = [-(-matrix.variance.size // 4) for _, _, matrix in matrices]
    flat = normals(
        from_host(np.concatenate([np.arange(count, dtype=np.uint32) for count in counts])),
        from_host(np.repeat(np.array([matrix.layer for _, _, matrix in matrices], np.uint32), counts)),
        from_host(np.repeat(np.array([matrix.number for _, _, matrix in matrices], np.uint32), counts)),
        seed,
    )
    starts = np.cumsum([0, *counts]) * 4
    return {
        (path, is_down): mx.unflatten(flat[start : start + matrix.variance.size], 0, matrix.variance.shape)
        for (path, is_down, matrix), start in zip(matrices, starts.tolist(), strict=False)
    }


def _initial_pair(target: Target, rank: int, alpha: float) -> LowRank:
    """`down` uniform in ±1/√in, `up` zero. Equal at every start, so that a tuning can be repeated."""
    shape = target.down_shape(rank)
    bound = 1 / math.sqrt(target.width)
    generator = np.random.Generator(np.random.Philox(key=[target.layer or 0, 2 * target.number]))
    down = generator.uniform(-bound, bound, shape).astype(np.float32)
    return LowRank(from_host(down), mx.zeros(target.up_shape(rank), mx.float32), alpha / rank)


def _initial_matrix(target: Target, side: int, matrix: mx.array) -> Matrix:
    zeros = mx.zeros(matrix.shape, mx.float32)
    return Matrix(target.layer or 0, 2 * target.number + side, mx.ones(matrix.shape, mx.float32), zeros, zeros)
