"""`lora_batched` in MLX operations."""

from collections.abc import Sequence

import mlx.core as mx


def lora_batched(
    rows: mx.array, a_stack: mx.array, b_stack: mx.array, adapter_scale: mx.array, slots: Sequence[int]
) -> mx.array:
    """[tokens, out] in the type of the rows, computed in float32; arguments as the kernel's."""
    slot = mx.array(list(slots), dtype=mx.uint32)
    wide = rows.astype(mx.float32)[:, None]
    hidden = mx.gather_mm(wide, a_stack.astype(mx.float32), rhs_indices=slot)
    delta = mx.gather_mm(hidden, b_stack.astype(mx.float32), rhs_indices=slot)[:, 0]
    active = (slot > 0)[:, None]
    return mx.where(active, delta * adapter_scale[slot][:, None], 0).astype(rows.dtype)
