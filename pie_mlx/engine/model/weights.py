"""The number format of a model's weights."""

from collections.abc import Callable
from typing import Any, cast

import mlx.core as mx
import mlx.nn as nn
from mlx.utils import tree_flatten, tree_map
from mlx_lm import utils as mlx_lm_utils

from pie_mlx.errors import InvalidArgumentError

DTYPES = {"float32": mx.float32, "float16": mx.float16, "bfloat16": mx.bfloat16}


def cast_weights(model: nn.Module, dtype: str, report: Callable[[str], None]) -> mx.Dtype:
    """Give the weights `dtype` (auto or one of DTYPES); the dtype of activations and pages that results.

    Without a GPU quantised weights are expanded: there MLX multiplies them slower than float32.
    """
    if dtype != "auto" and dtype not in DTYPES:
        raise InvalidArgumentError(
            f"dtype: {dtype!r} is none of auto, {', '.join(DTYPES)}", hint="leave it at auto", argument="dtype"
        )
    on_cpu = mx.default_device() == mx.cpu
    if on_cpu and _is_quantised(model):
        before = weight_bytes(model)
        mlx_lm_utils.dequantize_model(model)
        report(f"quantised weights expanded: {before / (1 << 20):,.0f} MiB became {weight_bytes(model) >> 20:,} MiB")
    target = DTYPES.get(dtype) or (mx.float32 if on_cpu else _common_dtype(model))
    model.update(tree_map(lambda array: _with_dtype(array, target), model.parameters()))
    mx.eval(model.parameters())
    return target


def weight_bytes(model: nn.Module) -> int:
    """Bytes of all parameters."""
    return sum(cast("mx.array", array).nbytes for _, array in cast("list[Any]", tree_flatten(model.parameters())))


def _is_quantised(model: nn.Module) -> bool:
    return any(hasattr(module, "scales") and hasattr(module, "bits") for _, module in model.named_modules())


def _with_dtype(array: mx.array, target: mx.Dtype) -> mx.array:
    return array.astype(target) if mx.issubdtype(array.dtype, mx.floating) else array


def _common_dtype(model: nn.Module) -> mx.Dtype:
    """The floating dtype most parameters have."""
    counts: dict[mx.Dtype, int] = {}
    for _, array in cast("list[tuple[str, mx.array]]", tree_flatten(model.parameters())):
        if mx.issubdtype(array.dtype, mx.floating):
            counts[array.dtype] = counts.get(array.dtype, 0) + array.size
    return max(counts, key=counts.__getitem__, default=mx.float32)
