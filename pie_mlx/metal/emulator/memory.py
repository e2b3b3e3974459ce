"""Arrays as the emulator sees them: numpy memory with guard gaps, zero-copy where possible."""

from dataclasses import dataclass
from typing import Any, cast

import mlx.core as mx
import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

GUARD_BYTES = 1024
"""Arrays closer together than this are copied apart, so that an overrun of one does not reach the next."""

_NUMPY_TYPES: dict[mx.Dtype, type[np.generic]] = {
    mx.bool_: np.bool_,
    mx.uint8: np.uint8,
    mx.uint16: np.uint16,
    mx.uint32: np.uint32,
    mx.uint64: np.uint64,
    mx.int8: np.int8,
    mx.int16: np.int16,
    mx.int32: np.int32,
    mx.int64: np.int64,
    mx.float16: np.float16,
    mx.bfloat16: np.uint16,
    mx.float32: np.float32,
}


def host_view(array: mx.array) -> Array:
    """The array's own memory; bfloat16 as uint16. Writes to it change the array."""
    raw = array.view(mx.uint16) if array.dtype == mx.bfloat16 else array
    return cast("Array", np.asarray(raw))


def empty_output(shape: tuple[int, ...], dtype: mx.Dtype) -> Array:
    """Memory for an output, filled with a pattern no kernel writes by accident."""
    memory = np.empty(shape, dtype=_NUMPY_TYPES[dtype])
    memory.view(np.uint8).fill(0xA5) if memory.ndim else memory.fill(0)
    return memory


def device_array(memory: Array, dtype: mx.Dtype) -> mx.array:
    """An output's memory as an MLX array."""
    array = mx.array(memory)
    return array.view(mx.bfloat16) if dtype == mx.bfloat16 else array


@dataclass(frozen=True, slots=True)
class Placed:
    """Memory to run on, and its origin if it had to be copied apart."""

    memory: Array
    origin: Array | None

    def write_back(self) -> None:
        if self.origin is not None:
            self.origin[...] = self.memory


def _guarded_copy(memory: Array) -> Array:
    raw = np.zeros(memory.nbytes + 2 * GUARD_BYTES, dtype=np.uint8)
    start = GUARD_BYTES + (-raw.ctypes.data % 64)
    copy = raw[start : start + memory.nbytes].view(memory.dtype).reshape(memory.shape)
    copy[...] = memory
    return cast("Array", copy)


def _crowded(memory: Array, others: list[Array]) -> bool:
    start, end = memory.ctypes.data - GUARD_BYTES, memory.ctypes.data + memory.nbytes + GUARD_BYTES
    return any(start < other.ctypes.data + other.nbytes and other.ctypes.data < end for other in others)


def place(arrays: list[Array], mutable: list[bool]) -> list[Placed]:
    """Places every array with a gap around it. Large or distant arrays stay in place.

    Raises ValueError for a mutable array whose rows are not contiguous: MLX would give the kernel a copy of it.
    """
    placed: list[Placed] = []
    for index, memory in enumerate(arrays):
        if mutable[index] and not memory.flags.c_contiguous:
            raise ValueError(f"input {index} is written in place and not contiguous: what is written would be lost")
        contiguous = np.ascontiguousarray(memory)
        before = [item.memory for item in placed]
        if _crowded(contiguous, before + arrays[index + 1 :]):
            placed.append(Placed(_guarded_copy(contiguous), memory if mutable[index] else None))
        else:
            placed.append(Placed(contiguous, memory if mutable[index] and contiguous is not memory else None))
    return placed
