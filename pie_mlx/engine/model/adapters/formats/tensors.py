"""Reads the bytes of a safetensors file and checks every claim of its header."""

import io
import math
import struct
from collections.abc import Callable
from typing import cast

import mlx.core as mx
import numpy as np

from pie_mlx.engine.model.tensor_header import LENGTH, Claim, read_claims
from pie_mlx.errors import AdapterFormatError, InvalidArgumentError
from pie_mlx.metal.arrays import from_host

_AGAIN = "the file is damaged or was not copied whole; copy it again"
_save = cast("Callable[..., None]", getattr(mx, "save_safetensors"))  # noqa: B009 - its stub lacks types
_TYPES = {"F32": "<f4", "F16": "<f2", "BF16": "<u2", "F64": "<f8"}


def read_tensors(data: bytes) -> dict[str, mx.array]:
    """The tensors by name. Raises AdapterFormatError for data that is not a complete safetensors file."""
    try:
        start = LENGTH.size + LENGTH.unpack_from(data)[0]
        claims = read_claims(data[LENGTH.size : start], len(data))
    except (struct.error, OverflowError):
        raise AdapterFormatError("adapter: its weights are not a safetensors file", hint=_AGAIN) from None
    except InvalidArgumentError as error:
        raise AdapterFormatError(f"adapter: its weights: {error.message}", hint=_AGAIN) from None
    return {name: _tensor(name, claim, data, start) for name, claim in claims.items()}


def write_tensors(tensors: dict[str, mx.array]) -> bytes:
    """The tensors as the bytes of a safetensors file."""
    file = io.BytesIO()
    _save(file, tensors, metadata={"format": "mlx"})
    return file.getvalue()


def _tensor(name: str, claim: Claim, data: bytes, start: int) -> mx.array:
    if claim.dtype not in _TYPES:
        raise AdapterFormatError(f"adapter: {name} has {claim.dtype} values", hint=f"use {', '.join(_TYPES)}")
    values = np.frombuffer(data, _TYPES[claim.dtype], math.prod(claim.shape), start + claim.begin).reshape(claim.shape)
    if claim.dtype == "BF16":
        return from_host(values).view(mx.bfloat16)
    return from_host(values.astype(np.float32) if claim.dtype == "F64" else values)
