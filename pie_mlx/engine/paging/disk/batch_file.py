"""A batch of records in one file that never changes: safetensors, readable with its own tools.

    8 bytes     length of the header, little-endian
    header      JSON: where each record lies, and in `__metadata__` whose they are and the digest of each
    records     one after the other: 4 bytes with the length of the tokens, the tokens, the content

The name of a record is its key in hex. Its digest also covers the key and whose it is, so a record in a file of another
model or user is none.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from struct import Struct
from typing import Any, NamedTuple

import msgspec
import xxhash

FORMAT = "pie-kv-2"
SUFFIX = ".safetensors"
RECORDS, BATCH_BYTES = 64, 32 << 20
"""What one file holds at most; a larger record is alone in its file."""
KEY_BYTES = 16
"""The length of a page's key; the key of a state has one byte more."""
_ALIGNMENT = 64
_STATE = b"s"
_LONGEST_HEADER = 1 << 20
PIECE_BYTES = 256 << 10
"""What is read and added to a digest at once: it is then still in the processor's cache."""
_COUNT, _LENGTH = Struct("<Q"), Struct("<I")
_TOP = "__metadata__"


class Owner(msgspec.Struct, frozen=True):
    """The owner of the records in a file: the model, by its name and by what its KV depends on, and the user."""

    model: str
    identity: str
    user: str


class Record(NamedTuple):
    """The KV of a page, or the state after it, and the packed tokens that it belongs to."""

    key: bytes
    tokens: bytes
    content: bytes | memoryview

    @property
    def size_bytes(self) -> int:
        return _LENGTH.size + len(self.tokens) + len(self.content)


class Location(NamedTuple):
    """Where a record lies: the file, the place in it, and the digest that it must have."""

    file: str
    offset: int
    size: int
    digest: str

    @property
    def end(self) -> int:
        """The first byte after it."""
        return self.offset + self.size


class Wanted(NamedTuple):
    """A record by its key and tokens, and where it lies."""

    key: bytes
    tokens: bytes
    place: Location

    @property
    def note(self) -> bytes:
        """What comes before the content."""
        return _LENGTH.pack(len(self.tokens)) + self.tokens

    @property
    def content_bytes(self) -> int:
        """Negative for a record of other tokens."""
        return self.place.size - _LENGTH.size - len(self.tokens)


class Header(NamedTuple):
    """What a file says of itself."""

    owner: Owner
    records: dict[bytes, Location]

    @property
    def pages(self) -> int:
        """How many of the records are pages."""
        return sum(not is_state(key) for key in self.records)


def state_key(key: bytes) -> bytes:
    """The key of the state of recurrent layers after the page with a key."""
    return key + _STATE


def is_state(key: bytes) -> bool:
    """Whether a record is a state."""
    return len(key) > KEY_BYTES


def encoded(owner: Owner, records: Sequence[Record]) -> list[bytes | memoryview]:
    """The parts of a file with these records."""
    table: dict[str, Any] = {}
    notes = {"format": FORMAT, "model": owner.model, "identity": owner.identity, "user": owner.user}
    parts: list[bytes | memoryview] = []
    offset = 0
    for record in records:
        payload = [_LENGTH.pack(len(record.tokens)), record.tokens, record.content]
        name, end = record.key.hex(), offset + record.size_bytes
        table[name] = {"dtype": "U8", "shape": [record.size_bytes], "data_offsets": [offset, end]}
        notes[name] = _digest(owner, record.key, payload)
        parts += payload
        offset = end
    header = msgspec.json.encode({_TOP: notes, **table})
    header += b" " * (-(len(header) + _COUNT.size) % _ALIGNMENT)
    return [_COUNT.pack(len(header)), header, *parts]


def read_header(path: Path) -> Header | None:
    """The header of a file; None for one that is damaged, cut or of another format. Raises OSError."""
    with path.open("rb", buffering=0) as file:
        size = os.fstat(file.fileno()).st_size
        first = file.read(_COUNT.size)
        if len(first) < _COUNT.size:
            return None
        (length,) = _COUNT.unpack(first)
        text = file.read(length) if length <= min(size, _LONGEST_HEADER) else b""
    try:
        return _decoded(path.name, text, _COUNT.size + length, size)
    except (msgspec.DecodeError, ValueError, KeyError, TypeError, RecursionError):
        return None


def read_records(path: Path, owner: Owner, wanted: Sequence[Wanted], into: Sequence[memoryview]) -> int:
    """Read the contents of records that lie one after the other. Returns how many of the first ones are as they were
    stored. Raises OSError."""
    with path.open("rb", buffering=0) as file:
        file.seek(wanted[0].place.offset)
        for count, (one, content) in enumerate(zip(wanted, into, strict=True)):
            note, digest = memoryview(bytearray(one.place.size - len(content))), _digest_of(owner, one.key)
            pieces = [content[start : start + PIECE_BYTES] for start in range(0, len(content), PIECE_BYTES)]
            for piece in (note, *pieces):
                if not _is_filled(file.fileno(), piece):
                    return count
                digest.update(piece)
            if bytes(note) != one.note or digest.hexdigest() != one.place.digest:
                return count
    return len(wanted)


def _is_filled(descriptor: int, piece: memoryview) -> bool:
    """Whether the file had enough bytes to fill the piece."""
    left = piece
    while len(left) and (count := os.readv(descriptor, [left])):
        left = left[count:]
    return not len(left)


def _decoded(name: str, text: bytes, start: int, size: int) -> Header | None:
    table = msgspec.json.decode(text, type=dict[str, dict[str, Any]])
    notes = table.pop(_TOP)
    if notes["format"] != FORMAT:
        return None
    records: dict[bytes, Location] = {}
    for record, place in table.items():
        first, end = place["data_offsets"]
        if type(first) is not int or type(end) is not int or not 0 <= first <= end - _LENGTH.size <= size - start:
            return None
        records[bytes.fromhex(record)] = Location(name, start + first, end - first, notes[record])
    owner = Owner(*(notes[field] for field in Owner.__struct_fields__))
    return Header(owner, records) if all(type(part) is str for part in msgspec.structs.astuple(owner)) else None


def _digest(owner: Owner, key: bytes, payload: Sequence[bytes | memoryview]) -> str:
    digest = _digest_of(owner, key)
    for part in payload:
        digest.update(part)
    return digest.hexdigest()


def _digest_of(owner: Owner, key: bytes) -> xxhash.xxh3_128:
    """The digest of a record, up to its payload."""
    digest = xxhash.xxh3_128()
    for part in (owner.identity.encode(), owner.user.encode(), key):
        digest.update(_LENGTH.pack(len(part)) + part)
    return digest
