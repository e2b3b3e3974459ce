"""The bytes of a safetensors file, read with every claim of its header checked."""

import io
import json
import math
import struct
from collections.abc import Callable
from typing import Any, cast

import mlx.core as mx
import numpy as np

from pie_mlx.errors import AdapterFormatError
from pie_mlx.metal.arrays import from_host

_LENGTH = struct.Struct("<Q")
_AGAIN = "the file is damaged or was not copied whole; copy it again"
_save = cast("Callable[..., None]", getattr(mx, "save_safetensors"))  # noqa: B009 - its stub lacks types
_TYPES = {"F32": "<f4", "F16": "<f2", "BF16": "<u2", "F64": "<f8"}


def read_tensors(data: bytes) -> dict[str, mx.array]:
    """The tensors by name. Raises AdapterFormatError for what is no safetensors file, or only a part of one."""
    header, start = _header(data)
    tensors = {name: _tensor(name, entry, data, start) for name, entry in header.items()}
    expected = start + max((entry["data_offsets"][1] for entry in header.values()), default=0)
    if expected != len(data):
        raise AdapterFormatError(
            f"adapter: its weights have {len(data):,} bytes, their header describes {expected:,}", hint=_AGAIN
        )
    return tensors


def write_tensors(tensors: dict[str, mx.array]) -> bytes:
    """The tensors as the bytes of a safetensors file."""
    file = io.BytesIO()
    _save(file, tensors, metadata={"format": "mlx"})
    return file.getvalue()


def _header(data: bytes) -> tuple[dict[str, Any], int]:
    """Its entries, and where the tensors begin."""
    try:
        start = _LENGTH.size + _LENGTH.unpack_from(data)[0]
        header = json.loads(data[_LENGTH.size : start])
    except (struct.error, ValueError, OverflowError, RecursionError) as error:
        raise AdapterFormatError("adapter: its weights are no safetensors file", hint=_AGAIN) from error
    if not isinstance(header, dict):
        raise AdapterFormatError("adapter: its weights are no safetensors file", hint=_AGAIN)
    entries = cast("dict[str, Any]", header)
    entries.pop("__metadata__", None)
    return entries, start


def _tensor(name: str, entry: Any, data: bytes, start: int) -> mx.array:
    try:
        kind, shape = str(entry["dtype"]), [int(size) for size in entry["shape"]]
        begin, end = (int(offset) for offset in entry["data_offsets"])
    except (TypeError, KeyError, ValueError) as error:
        raise AdapterFormatError(f"adapter: the header of its weights is wrong about {name}", hint=_AGAIN) from error
    if kind not in _TYPES:
        raise AdapterFormatError(f"adapter: {name} is of {kind}", hint=f"matrices are of {', '.join(_TYPES)}")
    count, size = math.prod(shape), np.dtype(_TYPES[kind]).itemsize
    if min(shape, default=0) < 0 or begin < 0 or end - begin != count * size or start + end > len(data):
        raise AdapterFormatError(
            f"adapter: {name} {shape} of {kind} is not all in its {len(data):,} bytes of weights", hint=_AGAIN
        )
    values = np.frombuffer(data, _TYPES[kind], count, start + begin).reshape(shape)
    if kind == "BF16":
        return from_host(values).view(mx.bfloat16)
    return from_host(values.astype(np.float32) if kind == "F64" else values)
