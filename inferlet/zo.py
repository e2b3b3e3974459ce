"""Zero-order optimisation of adapters: evolution strategies, which need forward passes and scores, no gradients.

    zo.initialize(adapter, population_size=16)
    for generation in range(20):
        seeds = [...]                                   # distinct, none of them 0
        scores = [await score(adapter, zo_seed=seed) for seed in seeds]
        zo.update(adapter, scores, seeds, max_sigma=0.1)

The noise is a pure function of the seed: the engine computes it again for the update.
"""

from collections.abc import Iterable, Sequence

from inferlet._calls.checks import checked_text, integer, number
from inferlet.adapter import Adapter, checked_seed
from inferlet.forward import Forward
from pie_mlx.calls import InitializeEvolution, UpdateEvolution
from pie_mlx.errors import InvalidTypeError

__all__ = ["adapter_seed", "initialize", "update"]


def adapter_seed(forward: Forward, seed: int) -> None:
    """Compute the pass with the noise of `seed` on its adapter."""
    forward.zo_seed(seed)


def initialize(
    adapter: Adapter,
    rank: int = 8,
    alpha: float = 16.0,
    population_size: int = 16,
    mu_fraction: float = 0.5,
    initial_sigma: float = 0.01,
    targets: Iterable[str] = ("q_proj", "k_proj", "v_proj"),
) -> None:
    """Fresh weights, which change nothing yet, and a strategy around them.

    `targets` are names of projections in every block. The best `mu_fraction` of a population are recombined. Raises
    InvalidArgumentError for numbers out of range and for targets the model does not have, and InvalidTypeError for a
    single name.
    """
    if isinstance(targets, str):
        raise InvalidTypeError(f"targets: got the text {targets!r}", hint=f"pass a list: [{targets!r}]")
    state = adapter.model.host.call(
        InitializeEvolution(
            adapter.id,
            integer(rank, "rank"),
            number(alpha, "alpha"),
            integer(population_size, "population_size"),
            number(mu_fraction, "mu_fraction"),
            number(initial_sigma, "initial_sigma"),
            [checked_text(target, "target") for target in targets],
        )
    )
    adapter.learn(state)


def update(adapter: Adapter, scores: Sequence[float], seeds: Sequence[int], max_sigma: float) -> None:
    """One generation: the scores of the population by seed, higher is better.

    Raises InvalidArgumentError when their numbers are not the population's, a score is not finite, seeds repeat or one
    is 0.
    """
    checked = [number(score, "score") for score in scores]
    numbers = [checked_seed(seed) for seed in seeds]
    message = UpdateEvolution(adapter.id, checked, numbers, number(max_sigma, "max_sigma"))
    adapter.learn(adapter.model.host.call(message))
