"""Makes MLX's float32 matrix products fast on Linux, whose wheel bundles the reference BLAS: one thread, no SIMD.

Only one BLAS function of libmlx matters, `cblas_sgemm`. We redirect its slot in libmlx's table of imported functions to
OpenBLAS from PyPI's `scipy-openblas32`, whose prefixed symbols cannot interpose by name.
"""

import ctypes
import functools
import os
import re
import struct
import sys
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

import numpy as np

from pie_mlx.metal.arrays import from_host, to_host

_OFF = "reference BLAS"
_SYMBOL = "cblas_sgemm"
_PATIENCE = "22"
"""OpenBLAS's idle threads spin for 2 to the power of this many cycles, 2 ms: longer than the gap between two products
of a pass. By default they keep processors busy for 30 ms."""
_RELA_BYTES, _SYMBOL_BYTES = 24, 24
_SMALL_KERNELS = {"SkylakeX", "Cooperlake", "SapphireRapids"}
"""Cores, by OpenBLAS's names, with kernels for small matrices: all that have AVX-512."""
# Tags of the dynamic section and relocation types of x86-64 and AArch64 (ELF gABI and the two psABIs).
_STRTAB, _SYMTAB, _RELA, _RELASZ, _PLTRELSZ, _JMPREL = 5, 6, 7, 8, 2, 23
_SLOT_TYPES = {6, 7, 1025, 1026}


@dataclass(frozen=True, slots=True)
class Blas:
    """The library that computes MLX's products. `library` is OpenBLAS if `blas` installed it.

    `copies_large_matrices` says whether it packs a large matrix for every product, although its kernels for small
    matrices do not.
    """

    name: str
    library: Any = None
    threads: int = 1
    copies_large_matrices: bool = False

    def set_threads(self, count: int) -> None:
        """Limits the threads of later products; 0 means all. Works only with our own OpenBLAS.

        Running products keep theirs: the wheel uses POSIX threads, whose buffers are never freed.
        """
        if self.library is not None:
            self.library.scipy_openblas_set_num_threads(count or self.threads)


@functools.cache
def blas() -> Blas:
    """Selects the library for products: OpenBLAS for float32 if possible.

    Does nothing off Linux, with PIE_FAST_BLAS=0, without the package, or if anything is unexpected. A BLAS that the
    user already interposed (LD_PRELOAD, or RTLD_GLOBAL before mlx is imported) is recognised as fast and kept.
    """
    if sys.platform != "linux":
        return Blas("Accelerate" if sys.platform == "darwin" else _OFF)
    if os.environ.get("PIE_FAST_BLAS") == "0":
        return Blas(f"{_OFF} (PIE_FAST_BLAS=0)")
    interposed = _interposed()
    if interposed:
        return Blas(f"{interposed} (interposed)")
    if find_spec("scipy_openblas32") is None:
        return Blas(f"{_OFF} (install pie-mlx[fast-cpu] for OpenBLAS)")
    return _redirect()


def _core(library: Any) -> str:
    name = library.scipy_openblas_get_corename
    name.restype = ctypes.c_char_p
    return cast("bytes", name()).decode()


def _interposed() -> str:
    """Name of the library whose `cblas_sgemm` the process finds first, if it is not MLX's own."""
    names = [path.name for path in _mapped() if re.match(r"lib(openblas|mkl_rt|blis)\b.*\.so", path.name)]
    return names[0] if names and hasattr(ctypes.CDLL(None), _SYMBOL) else ""


def _mapped() -> list[Path]:
    lines = Path("/proc/self/maps").read_text().splitlines()
    return list(dict.fromkeys(Path(line.split(maxsplit=5)[5]) for line in lines if line.count("/")))


def _redirect() -> Blas:
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", _PATIENCE)
    package = cast("Any", import_module("scipy_openblas32"))
    library = ctypes.CDLL(str(Path(package.get_lib_dir()) / package.get_library(fullname=True)))
    base, path = _library("libmlx.so")
    slots = _slots(base, path)
    if len(slots) != 1:
        return Blas(f"{_OFF} ({len(slots)} places in {path.name} import {_SYMBOL}, expected one)")
    target = ctypes.cast(getattr(library, f"scipy_{_SYMBOL}"), ctypes.c_void_p).value or 0
    before = _store(slots[0], target)
    if not _product_is_right():
        _store(slots[0], before)
        return Blas(f"{_OFF} (OpenBLAS gave a wrong product)")
    threads = int(library.scipy_openblas_get_num_threads())
    return Blas(
        f"OpenBLAS {package.__version__}, {threads} threads", library, threads, _core(library) in _SMALL_KERNELS
    )


def _library(name: str) -> tuple[int, Path]:
    """Load address and path of a mapped library."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        if line.endswith(f"/{name}"):
            return int(line.split("-")[0], 16), Path(line.split(maxsplit=5)[5])
    raise RuntimeError(f"{name} is not loaded")


def _slots(base: int, path: Path) -> list[int]:
    """Addresses of the table entries that hold the address of `cblas_sgemm`."""
    image = path.read_bytes()
    tags = _dynamic_section(image)
    symbols, strings = tags[_SYMTAB], tags[_STRTAB]
    found: list[int] = []
    for table, size in ((_JMPREL, _PLTRELSZ), (_RELA, _RELASZ)):
        if table not in tags:
            continue
        for entry in range(tags[table], tags[table] + tags[size], _RELA_BYTES):
            offset, info = struct.unpack_from("<QQ", image, _file_offset(image, entry))
            if info & 0xFFFFFFFF not in _SLOT_TYPES:
                continue
            symbol = _file_offset(image, symbols + (info >> 32) * _SYMBOL_BYTES)
            name = _file_offset(image, strings) + struct.unpack_from("<I", image, symbol)[0]
            if image[name : image.index(b"\0", name)] == _SYMBOL.encode():
                found.append(base + offset)
    return found


def _program_headers(image: bytes) -> list[tuple[int, int, int, int]]:
    """Type, file offset, address and size in the file of each segment."""
    start, size, count = struct.unpack_from("<Q", image, 32)[0], *struct.unpack_from("<HH", image, 54)
    headers = [struct.unpack_from("<IIQQQQ", image, start + index * size) for index in range(count)]
    return [(kind, offset, address, length) for kind, _, offset, address, _, length in headers]


def _dynamic_section(image: bytes) -> dict[int, int]:
    offset, size = next((o, length) for kind, o, _, length in _program_headers(image) if kind == 2)
    entries = (struct.unpack_from("<QQ", image, position) for position in range(offset, offset + size, 16))
    return dict(entries)


def _file_offset(image: bytes, address: int) -> int:
    for kind, offset, start, size in _headers_of(image):
        if kind == 1 and start <= address < start + size:
            return address - start + offset
    raise RuntimeError(f"address {address:#x} lies in no segment")


@functools.lru_cache(maxsize=1)
def _headers_of(image: bytes) -> list[tuple[int, int, int, int]]:
    return _program_headers(image)


def _store(address: int, value: int) -> int:
    """Writes a pointer into a table entry, whose page may be read-only. Returns the old value."""
    page = os.sysconf("SC_PAGE_SIZE")
    start = address - address % page
    libc = ctypes.CDLL(None, use_errno=True)
    protection = _protection(address)
    if libc.mprotect(ctypes.c_void_p(start), ctypes.c_size_t(page), protection | 3):
        raise OSError(ctypes.get_errno(), "mprotect")
    slot = ctypes.c_uint64.from_address(address)
    before = slot.value
    slot.value = value
    libc.mprotect(ctypes.c_void_p(start), ctypes.c_size_t(page), protection)
    return before


def _protection(address: int) -> int:
    for line in Path("/proc/self/maps").read_text().splitlines():
        span, flags = line.split(maxsplit=2)[:2]
        start, end = (int(part, 16) for part in span.split("-"))
        if start <= address < end:
            return sum(bit for bit, flag in ((1, "r"), (2, "w"), (4, "x")) if flag in flags)
    raise RuntimeError(f"address {address:#x} is not mapped")


def _product_is_right() -> bool:
    left = np.random.default_rng(0).standard_normal((33, 47), np.float32)
    right = np.random.default_rng(1).standard_normal((29, 47), np.float32)
    return np.allclose(to_host(from_host(left) @ from_host(right).T), left @ right.T, atol=1e-4)
