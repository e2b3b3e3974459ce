"""The state of one context as bytes: a header that says what it is, then its arrays.

    20 bytes    lengths of the header and of the content, and the checksum of both, little-endian
    header      MessagePack of `_Header`
    content     the arrays one after the other, as they lie in memory; bfloat16 as uint16

A record that is not exactly what is asked for is no record.
"""

import math
import zlib
from collections.abc import Sequence
from struct import Struct
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

VERSION = 1
_PREFIX = Struct("<QQI")

HostState = Sequence[Sequence[tuple[npt.NDArray[Any], str] | None]]
"""By layer and part: an array on the host and its dtype on the device; None before the first token."""


class StateName(msgspec.Struct, frozen=True):
    """What a state is of: the model (K1), the number of tokens, and a key that no other state has."""

    model: bytes
    tokens: int
    key: bytes


class _Part(msgspec.Struct, frozen=True):
    layer: int
    part: int
    dtype: str
    stored: str
    shape: tuple[int, ...]

    @property
    def bytes(self) -> int:
        return math.prod(self.shape) * np.dtype(self.stored).itemsize


class _Header(msgspec.Struct, frozen=True):
    version: int
    name: StateName
    layers: list[int]
    parts: list[_Part]


def packed_state(name: StateName, state: HostState) -> bytes:
    """The record of a state."""
    arrays = [
        (_Part(layer, part, found[1], found[0].dtype.str, found[0].shape), found[0])
        for layer, held in enumerate(state)
        for part, found in enumerate(held)
        if found is not None
    ]
    content = b"".join(array.tobytes() for _, array in arrays)
    parts, layers = [part for part, _ in arrays], [len(held) for held in state]
    header = msgspec.msgpack.encode(_Header(VERSION, name, layers, parts))
    return _PREFIX.pack(len(header), len(content), zlib.crc32(header + content)) + header + content


def unpacked_state(name: StateName, record: bytes) -> HostState | None:
    """The state in a record, after which there may be more; None if it is not the one of this name, or damaged."""
    if len(record) < _PREFIX.size:
        return None
    header_bytes, content_bytes, checksum = _PREFIX.unpack_from(record)
    body = record[_PREFIX.size : _PREFIX.size + header_bytes + content_bytes]
    if len(body) != header_bytes + content_bytes or zlib.crc32(body) != checksum:
        return None
    header = msgspec.msgpack.decode(body[:header_bytes], type=_Header)
    if header.version != VERSION or header.name != name:
        return None
    content = memoryview(body)[header_bytes:]
    state: list[list[tuple[npt.NDArray[Any], str] | None]] = [[None] * parts for parts in header.layers]
    for part in header.parts:
        array = np.frombuffer(content[: part.bytes], part.stored).reshape(part.shape)
        state[part.layer][part.part] = array, part.dtype
        content = content[part.bytes :]
    return state
