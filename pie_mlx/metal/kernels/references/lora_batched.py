"""`lora_batched` in numpy, float64."""

from collections.abc import Sequence

import mlx.core as mx
import numpy as np

from pie_mlx.metal.arrays import DoubleArray, doubles


def lora_batched(
    rows: mx.array, a_stack: mx.array, b_stack: mx.array, adapter_scale: mx.array, slots: Sequence[int]
) -> DoubleArray:
    """[tokens, out]; arguments as the kernel's."""
    slot = np.array(slots)
    delta = (doubles(rows)[:, None] @ doubles(a_stack)[slot] @ doubles(b_stack)[slot])[:, 0]
    return np.where((slot > 0)[:, None], delta * doubles(adapter_scale)[slot][:, None], 0)
