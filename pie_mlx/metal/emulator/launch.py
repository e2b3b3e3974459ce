"""One launch on the emulator: binds arrays, runs the compiled kernel, turns a defect into an error, and reports the
traffic."""

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pie_mlx.metal.emulator.build import EmulatorError
from pie_mlx.metal.emulator.memory import Array


@dataclass(frozen=True, slots=True)
class Traffic:
    """Bytes of one array in one launch.

    `requested_read` counts every load. `read` counts an element once per threadgroup, as with a perfect cache inside a
    threadgroup; `written` likewise. `undefined` counts elements of an output that no thread wrote.
    """

    requested_read: int
    read: int
    requested_written: int
    written: int
    undefined: int


@dataclass(frozen=True, slots=True)
class LaunchReport:
    """One launch: traffic by array name, threadgroup memory in bytes, how many threadgroups ran."""

    kernel: str
    function: str
    traffic: dict[str, Traffic]
    threadgroup_bytes: int
    threadgroups: int

    @property
    def bytes_moved(self) -> int:
        """Device bytes read (once per threadgroup) and written."""
        return sum(item.read + item.written for item in self.traffic.values())


THREADGROUP_MEMORY_BYTES = 32 * 1024
"""Threadgroup memory on every Apple GPU."""


class KernelDefectError(EmulatorError):
    """A defect of a kernel. `defect` is one of: race (inside a threadgroup), group_race (between threadgroups),
    divergence, out_of_bounds, unwritten_read, read_only_write, misaligned, threadgroup_memory."""

    defect: str


class _Buffer(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("base", ctypes.c_void_p),
        ("bytes", ctypes.c_uint64),
        ("item_bytes", ctypes.c_uint32),
        ("writable", ctypes.c_uint32),
        ("initialised", ctypes.c_void_p),
        ("touched", ctypes.c_void_p),
        ("requested_read", ctypes.c_uint64),
        ("unique_read", ctypes.c_uint64),
        ("requested_written", ctypes.c_uint64),
        ("unique_written", ctypes.c_uint64),
        ("never_written", ctypes.c_uint64),
    )


class _Launch(ctypes.Structure):
    _fields_ = (
        ("grid", ctypes.c_uint32 * 3),
        ("threadgroup", ctypes.c_uint32 * 3),
        ("buffer_count", ctypes.c_uint32),
        ("threadgroup_limit", ctypes.c_uint32),
        ("buffers", ctypes.POINTER(_Buffer)),
        ("threadgroup_bytes", ctypes.c_uint64),
        ("defect", ctypes.c_char * 32),
        ("message", ctypes.c_char * 512),
    )


@dataclass(frozen=True, slots=True)
class Binding:
    """One buffer of a launch.

    `initialised` marks the elements that hold a value, uint8; None means all. `touched` receives READ and WRITTEN bits.
    """

    name: str
    memory: Array
    writable: bool
    initialised: Array | None = None
    touched: Array | None = None


READ, WRITTEN = 1, 2
Size = tuple[int, int, int]


def _buffer(binding: Binding) -> _Buffer:
    return _Buffer(
        name=binding.name.encode(),
        base=binding.memory.ctypes.data,
        bytes=binding.memory.nbytes,
        item_bytes=binding.memory.itemsize,
        writable=binding.writable,
        initialised=_address(binding.initialised),
        touched=_address(binding.touched),
    )


def _address(array: Array | None) -> int | None:
    return None if array is None else array.ctypes.data


def _traffic(buffer: _Buffer) -> Traffic:
    return Traffic(
        buffer.requested_read,
        buffer.unique_read,
        buffer.requested_written,
        buffer.unique_written,
        buffer.never_written,
    )


def run(
    library: Path, kernel: str, function: str, bindings: Sequence[Binding], grid: Size, threadgroup: Size
) -> LaunchReport:
    """Runs every thread of the grid. Raises KernelDefectError at the first defect."""
    buffers = (_Buffer * len(bindings))(*(_buffer(binding) for binding in bindings))
    launch = _Launch(
        grid=grid,
        threadgroup=threadgroup,
        buffer_count=len(bindings),
        threadgroup_limit=THREADGROUP_MEMORY_BYTES,
        buffers=buffers,
    )
    if ctypes.CDLL(str(library)).emulator_run(ctypes.byref(launch)):
        defect = launch.defect.decode()
        raise KernelDefectError(
            f"{kernel}: {defect.replace('_', ' ')}: {launch.message.decode()}",
            hint="run the kernel's own tests; the emulator stops at the first defect",
            defect=defect,
        )
    traffic = {binding.name: _traffic(buffer) for binding, buffer in zip(bindings, buffers, strict=True)}
    groups = int(np.prod([total // part for total, part in zip(grid, threadgroup, strict=True)]))
    return LaunchReport(kernel, function, traffic, launch.threadgroup_bytes, groups)
