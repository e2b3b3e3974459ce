"""Where arrays lie in memory: a pool that was copied lies elsewhere."""

from collections.abc import Iterable

import mlx.core as mx

from pie_mlx.metal.arrays import host_view


def addresses(arrays: Iterable[mx.array]) -> list[int]:
    return [host_view(array).__array_interface__["data"][0] for array in arrays]
