"""Evolution strategies: the formulas, step by step, against the same in numpy."""

import math
from dataclasses import replace

import mlx.core as mx
import numpy as np
import pytest

from pie_mlx.engine.model.adapters import AdapterContent, Target, initial_content, updated
from pie_mlx.engine.model.adapters.evolution import perturbed
from pie_mlx.engine.model.adapters.philox import normals
from pie_mlx.engine.model.adapters.strategy import Strategy
from pie_mlx.errors import InvalidArgumentError

WIDTH, OUT, RANK, POPULATION = 6, 5, 2, 6
PATHS = [f"model.layers.{layer}.{name}" for layer in (0, 1) for name in ("q_proj", "v_proj")]
TARGETS = {
    path: Target(path, None, WIDTH, OUT, 0, int(path.split(".")[2]), number % 2, is_head=False)  # type: ignore[arg-type]
    for number, path in enumerate(PATHS)
}
SEEDS = [3, -4, 5, 1 << 40, 7, 8]
SCORES = [0.1, 0.9, 0.3, 0.5, -2.0, 0.4]
BEST = [-4, 1 << 40, 8]


def content(**changes: object) -> AdapterContent:
    options = {"rank": RANK, "alpha": 4.0, "population_size": POPULATION, "mu_fraction": 0.5, "initial_sigma": 0.02}
    return initial_content(TARGETS, ["q_proj", "v_proj"], **(options | changes))  # type: ignore[arg-type]


def noise(path: str, *, up: bool, seed: int) -> np.ndarray:
    """N(seed, ·) of one matrix, by the rule (Z3)."""
    shape = (RANK, OUT) if up else (WIDTH, RANK)
    blocks = -(-math.prod(shape) // 4)
    target = TARGETS[path]
    words = (mx.full((blocks,), value, mx.uint32) for value in (target.layer, 2 * target.number + up))
    return np.array(normals(mx.arange(blocks, dtype=mx.uint32), *words, seed))[: math.prod(shape)].reshape(shape)


def test_a_fresh_adapter_changes_nothing() -> None:  # Z1
    made = content()
    state = made.evolution
    assert state is not None
    for pair in made.additions.values():
        assert float(mx.abs(pair.up).max().item()) == 0.0
        down = np.array(pair.down)
        assert np.abs(down).max() <= 1 / math.sqrt(WIDTH)
        assert np.abs(down).max() > 0.5 / math.sqrt(WIDTH)
        assert pair.scale == 4.0 / RANK
    assert state.sigmas == {0: 0.02, 1: 0.02}
    for _, _, matrix in state.matrices():
        assert float(matrix.variance.min().item()) == float(matrix.variance.max().item()) == 1.0
        assert not np.array(matrix.step_path).any()
        assert not np.array(matrix.shape_path).any()


def test_a_fresh_adapter_is_the_same_at_every_start() -> None:
    first, second = content(), content()
    assert all(mx.array_equal(one.down, second.additions[path].down) for path, one in first.additions.items())


def test_noise_is_added_to_both_matrices() -> None:  # Z2
    made = content()
    assert made.evolution is not None
    for path, pair in perturbed(made.additions, made.evolution, 9).items():
        expected = np.array(made.additions[path].down) + 0.02 * noise(path, up=False, seed=9)
        assert np.allclose(np.array(pair.down), expected, atol=1e-7)
        assert np.allclose(np.array(pair.up), 0.02 * noise(path, up=True, seed=9), atol=1e-7)


def test_two_generations_follow_the_formulas() -> None:  # Z4
    made = content()
    for scores, best in ((SCORES, BEST), ([-score for score in SCORES], [7, 3, 5])):
        expected = {layer: by_hand(made, layer, best, max_sigma=1.0) for layer in (0, 1)}
        assert made.evolution is not None
        made = updated(made, made.evolution, scores, SEEDS, 1.0)
        for layer in (0, 1):
            means, variances, sigma = expected[layer]
            assert made.evolution is not None
            assert made.evolution.sigmas[layer] == pytest.approx(sigma, rel=1e-5)
            for path in PATHS[2 * layer : 2 * layer + 2]:
                assert np.allclose(np.array(made.additions[path].down), means[path, False], atol=1e-6)
                assert np.allclose(np.array(made.additions[path].up), means[path, True], atol=1e-6)
                assert np.allclose(np.array(made.evolution.downs[path].variance), variances[path, False], rtol=1e-5)
                assert np.allclose(np.array(made.evolution.ups[path].variance), variances[path, True], rtol=1e-5)


def by_hand(made: AdapterContent, layer: int, best: list[int], max_sigma: float):  # type: ignore[no-untyped-def]
    """Z4 as it is written, for one layer."""
    state = made.evolution
    assert state is not None
    keys = [(path, up) for path in PATHS[2 * layer : 2 * layer + 2] for up in (False, True)]
    d = 2 * (WIDTH * RANK + RANK * OUT)
    mu = len(best)
    w = np.array([math.log(mu + 0.5) - math.log(i) for i in range(1, mu + 1)])
    w /= w.sum()
    mu_eff = 1 / (w**2).sum()
    c_c = (4 + mu_eff / d) / (d + 4 + 2 * mu_eff / d)
    c_s = (mu_eff + 2) / (d + mu_eff + 5)
    c_1 = 2 / ((d + 1.3) ** 2 + mu_eff)
    c_mu = min(1 - c_1, 2 * (mu_eff - 2 + 1 / mu_eff) / ((d + 2) ** 2 + mu_eff))
    damps = 1 + 2 * max(0, math.sqrt((mu_eff - 1) / (d + 1)) - 1) + c_s
    chi = math.sqrt(d) * (1 - 1 / (4 * d) + 1 / (21 * d**2))
    sigma = state.sigmas[layer]
    means, variances, squared_norm = {}, {}, 0.0
    for path, up in keys:
        matrix = (state.ups if up else state.downs)[path]
        pair = made.additions[path]
        C = np.array(matrix.variance)
        y = [np.sqrt(C) * noise(path, up=up, seed=seed) for seed in best]
        mean_y = sum(weight * one for weight, one in zip(w, y, strict=True))
        means[path, up] = np.array(pair.up if up else pair.down) + sigma * mean_y
        p_s = (1 - c_s) * np.array(matrix.step_path) + math.sqrt(c_s * (2 - c_s) * mu_eff) * mean_y / np.sqrt(C)
        p_c = (1 - c_c) * np.array(matrix.shape_path) + math.sqrt(c_c * (2 - c_c) * mu_eff) * mean_y
        squares = sum(weight * one**2 for weight, one in zip(w, y, strict=True))
        variances[path, up] = np.clip((1 - c_1 - c_mu) * C + c_1 * p_c**2 + c_mu * squares, 1e-6, 1e6)
        squared_norm += (p_s**2).sum()
    grown = sigma * math.exp((c_s / damps) * (math.sqrt(squared_norm) / chi - 1))
    return means, variances, min(max(grown, state.initial_sigma / 100), max_sigma)


@pytest.mark.parametrize(("population", "fraction", "parents"), [(5, 0.5, 2), (3, 0.1, 1), (4, 1.0, 4)])
def test_the_best_of_a_population_are_its_fraction_rounded_down_and_at_least_one(
    population: int, fraction: float, parents: int
) -> None:  # Z4
    made = content(population_size=population, mu_fraction=fraction)
    seeds = list(range(1, population + 1))
    means, _, sigma = by_hand(made, 0, seeds[:parents], max_sigma=1.0)
    assert made.evolution is not None
    after = updated(made, made.evolution, [float(-seed) for seed in seeds], seeds, 1.0)
    assert after.evolution is not None
    assert after.evolution.sigmas[0] == pytest.approx(sigma, rel=1e-5)
    assert np.allclose(np.array(after.additions[PATHS[0]].down), means[PATHS[0], False], atol=1e-6)


@pytest.mark.parametrize("limit", [1e-6, 1e6])
def test_a_variance_stays_within_its_limits(limit: float) -> None:  # Z4
    made = content()
    state = made.evolution
    assert state is not None
    at_limit = {
        path: replace(matrix, variance=mx.full(matrix.variance.shape, limit)) for path, matrix in state.downs.items()
    }
    after = updated(made, replace(state, downs=at_limit), SCORES, SEEDS, 1.0).evolution
    assert after is not None
    found = np.concatenate([np.array(matrix.variance).ravel() for matrix in after.downs.values()])
    assert found.min() >= np.float32(1e-6)
    assert found.max() <= np.float32(1e6)
    assert (found == np.float32(limit)).any()


def test_a_step_size_stays_above_a_hundredth_of_the_first() -> None:  # Z4
    strategy, sigma = Strategy.of(44, 3), 0.02
    for _ in range(1000):
        sigma = strategy.sigma(sigma, 0.0, 0.02, 1.0)
    assert sigma == 0.02 / 100


def test_of_a_variance_no_less_than_nothing_is_kept() -> None:  # Z4
    assert Strategy.of(1, 50).keep_variance == pytest.approx(0.0, abs=1e-12)


def test_the_step_size_stays_below_its_limit() -> None:  # Z4
    made = content()
    assert made.evolution is not None
    after = updated(made, made.evolution, SCORES, SEEDS, 0.001).evolution
    assert after is not None
    assert after.sigmas == {0: 0.001, 1: 0.001}


def test_it_finds_the_minimum_of_a_bowl() -> None:
    """A strategy that follows the formulas gets nearer to a point it can only measure its distance from."""
    made = content(population_size=16, initial_sigma=0.1)
    goal = np.random.default_rng(1).standard_normal((RANK, OUT))

    def distance(ups: np.ndarray) -> float:
        return float(((ups - goal) ** 2).sum())

    first = distance(np.array(made.additions[PATHS[0]].up))
    for generation in range(60):
        seeds = [1 + generation * 16 + member for member in range(16)]
        assert made.evolution is not None
        scores = [-distance(np.array(perturbed(made.additions, made.evolution, seed)[PATHS[0]].up)) for seed in seeds]
        made = updated(made, made.evolution, scores, seeds, 1.0)
    assert distance(np.array(made.additions[PATHS[0]].up)) < 0.2 * first


def test_targets_the_model_does_not_have_are_named() -> None:  # Z1
    with pytest.raises(InvalidArgumentError, match="up_proj"):
        initial_content(
            TARGETS,
            ["q_proj", "up_proj"],
            rank=2,
            alpha=4.0,
            population_size=4,
            mu_fraction=0.5,
            initial_sigma=0.1,
        )
