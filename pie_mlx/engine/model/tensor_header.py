"""The header of a safetensors file: what it says of its tensors, checked before it is used."""

import math
import os
import stat
import struct
from pathlib import Path
from typing import Any, NamedTuple, cast

from pie_mlx.documents import json_object
from pie_mlx.errors import InvalidArgumentError

HEADER_LIMIT_BYTES = 32 << 20
"""Some hundred thousand tensors."""
LENGTH = struct.Struct("<Q")
_SIZES = {
    **dict.fromkeys(("BOOL", "U8", "I8", "F8_E4M3", "F8_E5M2", "F8_E8M0"), 1),
    **dict.fromkeys(("U16", "I16", "F16", "BF16"), 2),
    **dict.fromkeys(("U32", "I32", "F32"), 4),
    **dict.fromkeys(("U64", "I64", "F64", "C64"), 8),
}
_AGAIN = "the file is damaged or was not fetched whole; fetch it again"


class Claim(NamedTuple):
    """A tensor: its place is counted from the end of the header."""

    dtype: str
    shape: tuple[int, ...]
    begin: int
    end: int


def claims_of(path: Path) -> dict[str, Claim]:
    """The tensors of a file by name. Raises InvalidArgumentError for a file that its header does not fit, OSError."""
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
        facts = os.fstat(file.fileno())
        if not stat.S_ISREG(facts.st_mode):
            raise _refused("it is no regular file")
        prefix = file.read(LENGTH.size)
        length = LENGTH.unpack(prefix)[0] if len(prefix) == LENGTH.size else facts.st_size
        if length > facts.st_size - LENGTH.size:
            raise _refused("it is no safetensors file")
        if length > HEADER_LIMIT_BYTES:
            raise _refused(f"its header is longer than {HEADER_LIMIT_BYTES >> 20} MiB")
        return read_claims(file.read(length), facts.st_size)


def read_claims(header: bytes, file_bytes: int) -> dict[str, Claim]:
    """The tensors by name. Raises InvalidArgumentError unless they fill a file of this size, one after the other."""
    try:
        entries = json_object(header, HEADER_LIMIT_BYTES)
    except InvalidArgumentError as error:
        raise _refused(f"it is no safetensors file: its header is {error.message}") from None
    entries.pop("__metadata__", None)
    claims = {name: _claim(name, entry) for name, entry in entries.items()}
    end = 0
    for name, claim in sorted(claims.items(), key=lambda item: (item[1].begin, item[1].end)):
        if claim.begin != end:
            raise _refused(f"{name!r} does not begin where the tensor before it ends")
        end = claim.end
    described = LENGTH.size + len(header) + end
    if described != file_bytes:
        raise _refused(f"it has {file_bytes:,} bytes, its header describes {described:,}")
    return claims


def _claim(name: str, entry: Any) -> Claim:
    match entry:
        case {"dtype": str(dtype), "shape": [*sizes], "data_offsets": [int(begin), int(end)]}:
            pass
        case _:
            raise _refused(f"its header is wrong about {name!r}")
    if dtype not in _SIZES:
        raise _refused(f"{name!r} is of the unknown type {dtype!r}")
    counts = [size for size in cast("list[object]", sizes) if type(size) is int and size >= 0]
    if len(counts) < len(sizes):
        raise _refused(f"its header is wrong about {name!r}")
    if end - begin != math.prod(counts) * _SIZES[dtype]:
        raise _refused(f"{name!r} {counts} of {dtype} does not take the bytes it is given")
    return Claim(dtype, tuple(counts), begin, end)


def _refused(why: str) -> InvalidArgumentError:
    return InvalidArgumentError(why[:300], hint=_AGAIN)
