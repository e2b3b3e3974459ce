"""`pie:zo/zo`: evolution of adapters."""

from inferlet import zo as sdk
from pie_mlx.wasm.interfaces.adapter import Adapter
from pie_mlx.wasm.interfaces.inference import ForwardPass
from pie_mlx.wasm.offers import Interface


def adapter_seed(forward: ForwardPass, seed: int) -> None:
    forward.seed = seed


def initialize(
    adapter: Adapter, rank: int, alpha: float, population_size: int, mu_fraction: float, initial_sigma: float
) -> None:
    sdk.initialize(adapter.sdk, rank, alpha, population_size, mu_fraction, initial_sigma)


def update(adapter: Adapter, scores: list[float], seeds: list[int], max_sigma: float) -> None:
    sdk.update(adapter.sdk, scores, seeds, max_sigma)


INTERFACES = (Interface("pie:zo/zo", (adapter_seed, initialize, update)),)
