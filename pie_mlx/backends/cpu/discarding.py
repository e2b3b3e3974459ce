"""Gives the memory of parts of an array back to the system, while the array stays where it is."""

import ctypes
import mmap
import sys
from collections.abc import Iterable
from typing import Any

import numpy.typing as npt

_MADV_DONTNEED = 4


def can_discard() -> bool:
    """Whether the system takes memory back: on Linux, where it reads as zeros afterwards."""
    return sys.platform == "linux"


def discard(array: npt.NDArray[Any], spans: Iterable[tuple[int, int]]) -> int:
    """Forget the bytes `start` .. `stop` of an array for each of `spans`; answers how many went back to the system.

    Only whole pages of the system do.
    """
    base, size = array.ctypes.data, mmap.PAGESIZE
    madvise = ctypes.CDLL(None, use_errno=True).madvise
    madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    given = 0
    for start, stop in spans:
        first, last = -(-(base + start) // size) * size, (base + stop) // size * size
        if first < last and madvise(first, last - first, _MADV_DONTNEED) == 0:
            given += last - first
    return given
