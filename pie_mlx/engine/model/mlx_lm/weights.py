"""The number format of a model's weights."""

import math
from collections.abc import Callable

import mlx.core as mx

from pie_mlx.backends import current_backend
from pie_mlx.engine.model.mlx_lm.modules import Module, convert_parameters, dequantise, parameters_of
from pie_mlx.engine.model.parts import Parts, Pause, at_once
from pie_mlx.errors import InvalidArgumentError
from pie_mlx.metal.arrays import evaluate

DTYPES = {"float32": mx.float32, "float16": mx.float16, "bfloat16": mx.bfloat16}


PIECE_BYTES = 64 << 20
"""Weights that are read and converted at once; a larger tensor is read alone."""


def casting_weights(model: Module, dtype: str, report: Callable[[str], None]) -> Parts[mx.Dtype]:
    """Reads the weights and casts them to `dtype` (auto or one of DTYPES), a piece at a time. Gives the resulting dtype
    of activations and pages."""
    target = retyped(model, dtype, report)
    total, done, piece = weight_bytes(model), 0, list[mx.array]()
    yield Pause(0, total)
    for _, array in parameters_of(model):
        held = sum(one.nbytes for one in piece)
        if piece and held + array.nbytes > PIECE_BYTES:
            evaluate(piece)
            done, piece = done + held, []
            yield Pause(done, total)
        piece.append(array)
    evaluate(piece)
    yield Pause(total, total)
    return target


cast_weights = at_once(casting_weights)


def retyped(model: Module, dtype: str, report: Callable[[str], None]) -> mx.Dtype:
    """Like `casting_weights`, but lazy: reads and computes nothing.

    Quantised weights are expanded if MLX multiplies them more slowly than float32.
    """
    if dtype != "auto" and dtype not in DTYPES:
        raise InvalidArgumentError(
            f"dtype: {dtype!r} is none of auto, {', '.join(DTYPES)}", hint="leave it at auto", argument="dtype"
        )
    float32_only = current_backend().float32_only
    if float32_only and _is_quantised(model):
        before = weight_bytes(model)
        dequantise(model)
        report(f"quantised weights expanded: {before / (1 << 20):,.0f} MiB became {weight_bytes(model) >> 20:,} MiB")
    target = DTYPES.get(dtype) or (mx.float32 if float32_only else _common_dtype(model))
    convert_parameters(model, lambda array: _with_dtype(array, target))
    return target


def weight_bytes(model: Module) -> int:
    """Bytes of all parameters."""
    return sum(array.nbytes for _, array in parameters_of(model))


def largest_matrix(model: Module, vocabulary_size: int) -> int:
    """Entries of the largest matrix of a layer, experts included, the vocabulary excluded."""
    shapes = (array.shape[-2:] for _, array in parameters_of(model) if array.ndim > 1)
    return max((math.prod(shape) for shape in shapes if vocabulary_size not in shape), default=0)


def _is_quantised(model: Module) -> bool:
    return any(hasattr(module, "scales") and hasattr(module, "bits") for _, module in model.named_modules())


def _with_dtype(array: mx.array, target: mx.Dtype) -> mx.array:
    return array.astype(target) if mx.issubdtype(array.dtype, mx.floating) else array


def _common_dtype(model: Module) -> mx.Dtype:
    """The floating-point dtype of most parameters."""
    counts: dict[mx.Dtype, int] = {}
    for _, array in parameters_of(model):
        if mx.issubdtype(array.dtype, mx.floating):
            counts[array.dtype] = counts.get(array.dtype, 0) + array.size
    return max(counts, key=counts.__getitem__, default=mx.float32)
