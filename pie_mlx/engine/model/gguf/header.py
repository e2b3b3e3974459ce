"""The header of a GGUF file: what it says of the model and of its tensors, all of it bounded before it is believed.

The gguf package's own reader maps the file, so that a file cut while it is read ends the process, believes every
length, and takes five seconds for a vocabulary of 49,152 tokens. We use only its type names, block sizes and
dequantisation.
"""

import math
import os
import re
import stat
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from pie_mlx.errors import ModelLoadError

ENTRIES_LIMIT = 1 << 16
"""Most metadata entries; also most tensors."""
TEXT_LIMIT_BYTES = 4 << 20
KEY_LIMIT_BYTES = 1024
ELEMENTS_LIMIT = 1 << 23
"""Elements of all arrays together: the largest vocabularies have a million tokens, scores and merges."""
HEADER_LIMIT_BYTES = 256 << 20
PARTS_LIMIT = 512
_VERSIONS = (2, 3)
_TEXT, _ARRAY = 8, 9
_SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_PART = re.compile(r"-\d{5}-of-\d{5}\.gguf$")


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor [..., columns] whose last dimension is stored in blocks of type `kind`, like Q4_K."""

    name: str
    kind: str
    shape: tuple[int, ...]
    path: Path
    offset: int
    size_bytes: int


@dataclass(frozen=True, slots=True)
class GgufModel:
    """A model's metadata and its tensors by name, of all its files."""

    path: Path
    metadata: Mapping[str, Any]
    tensors: Mapping[str, Tensor]

    def refused(self, why: str, hint: str = "") -> ModelLoadError:
        """The error for something in this file."""
        return refused(self.path, why, hint)

    @property
    def architecture(self) -> str:
        """As GGUF names it. Raises ModelLoadError without one."""
        return self.value("general.architecture", str)

    def value(self, key: str, kind: type, default: Any = None) -> Any:
        """A value of the kind; an int passes for a float. Raises ModelLoadError for another, or none and no default."""
        found = self.metadata.get(key, default)
        if kind is float and type(found) is int:
            return float(found)
        if type(found) is not kind:
            raise self.refused(f"its {key} is {'missing' if found is None else f'{found!r:.60}'}")
        if kind is float and not math.isfinite(found):
            raise self.refused(f"its {key} is {found}")
        return found

    def texts(self, key: str) -> list[str]:
        """An array of texts. Raises ModelLoadError."""
        found = self.value(key, list)
        if not all(type(one) is str for one in found):
            raise self.refused(f"its {key} is no list of texts")
        return found


def read_model(path: Path) -> GgufModel:
    """Headers of a model's files: `path`, and the others where it is split. Raises ModelLoadError."""
    first = _read(path)
    count = first.metadata.get("split.count", 1)
    if count in (0, 1):
        return first
    if type(count) is not int or not 1 < count <= PARTS_LIMIT or not _PART.search(path.name):
        raise first.refused("it is a part of a model, and the other parts cannot be told from its name")
    tensors: dict[str, Tensor] = {}
    for number in range(1, count + 1):
        name = _PART.sub(f"-{number:05}-of-{count:05}.gguf", path.name)
        part = first if name == path.name else _read(path.with_name(name))
        if shared := tensors.keys() & part.tensors.keys():
            raise part.refused(f"its tensor {min(shared)!r} is in two parts")
        tensors |= part.tensors
        first = part if number == 1 else first  # the first part has the metadata
    return GgufModel(first.path, first.metadata, tensors)


def refused(path: Path, why: str, hint: str = "") -> ModelLoadError:
    """The error for a file that cannot be used."""
    return ModelLoadError(
        f"model: {path}: {why[:300]}", hint=hint or "the file is damaged or was not fetched whole; fetch it again"
    )


def _read(path: Path) -> GgufModel:
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
            facts = os.fstat(file.fileno())
            if not stat.S_ISREG(facts.st_mode):
                raise refused(path, "it is no regular file")
            return _Reader(path, file, facts.st_size).model()
    except OSError as error:
        raise refused(path, error.strerror or "it cannot be read", "check its permissions") from None


class _Reader:
    def __init__(self, path: Path, file: BinaryIO, size_bytes: int) -> None:
        self._path, self._file, self._size = path, file, size_bytes
        self._elements = self._place = 0

    def model(self) -> GgufModel:
        if self._bytes(4) != b"GGUF":
            raise refused(self._path, "it is no GGUF file")
        if (version := self._number("I")) not in _VERSIONS:
            raise refused(self._path, f"it is GGUF of version {version}", "versions 2 and 3 are read; convert it again")
        tensors, entries = self._count("tensors"), self._count("values")
        metadata = dict(self._unique(entries, self._entry))
        claims = dict(self._unique(tensors, self._claim))
        return GgufModel(self._path, metadata, self._placed(claims, self._alignment(metadata)))

    def _unique(self, count: int, read: Callable[[], tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for _ in range(count):
            name, value = read()
            if name in found:
                raise refused(self._path, f"its header has {name!r:.80} twice")
            found[name] = value
        return found

    def _entry(self) -> tuple[str, Any]:
        return self._text(KEY_LIMIT_BYTES), self._value(self._number("I"))

    def _value(self, kind: int) -> Any:
        if kind == _TEXT:
            return self._text(TEXT_LIMIT_BYTES)
        if kind == _ARRAY:
            return self._array(self._number("I"), self._number("Q"))
        if kind not in _SCALARS:
            raise refused(self._path, f"its header has a value of the unknown type {kind}")
        return self._number(_SCALARS[kind])

    def _array(self, kind: int, count: int) -> list[Any]:
        self._elements += count
        if self._elements > ELEMENTS_LIMIT:
            raise refused(self._path, f"its header has arrays of more than {ELEMENTS_LIMIT:,} values")
        if kind == _TEXT:
            return [self._text(TEXT_LIMIT_BYTES) for _ in range(count)]
        if kind not in _SCALARS:
            raise refused(self._path, f"its header has an array of the type {kind}")
        code = np.dtype(_SCALARS[kind]).newbyteorder("<")
        return np.frombuffer(self._bytes(count * code.itemsize), code).tolist()

    def _claim(self) -> tuple[str, tuple[tuple[int, ...], int, int]]:
        name, dimensions = self._text(KEY_LIMIT_BYTES), self._number("I")
        if not 1 <= dimensions <= 4:
            raise refused(self._path, f"its tensor {name!r:.80} has {dimensions} dimensions")
        shape = tuple(self._number("Q") for _ in range(dimensions))[::-1]
        return name, (shape, self._number("I"), self._number("Q"))

    def _placed(self, claims: Mapping[str, tuple[tuple[int, ...], int, int]], alignment: int) -> dict[str, Tensor]:
        from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType

        kinds = {int(kind): (kind.name, *GGML_QUANT_SIZES[kind]) for kind in GGMLQuantizationType}
        begin = -(-self._place // alignment) * alignment
        found: dict[str, Tensor] = {}
        end = 0
        for name, (shape, number, offset) in sorted(claims.items(), key=lambda item: item[1][2]):
            if number not in kinds:
                raise refused(self._path, f"its tensor {name!r:.80} is of the unknown type {number}")
            kind, block, block_bytes = kinds[number]
            size = math.prod(shape) // block * block_bytes
            if shape[-1] % block or not size:
                raise refused(self._path, f"its tensor {name!r:.80} {list(shape)} does not consist of {kind} blocks")
            if offset < end or offset % alignment:
                raise refused(self._path, f"its tensor {name!r:.80} does not begin where the one before it ends")
            end = offset + size
            found[name] = Tensor(name, kind, shape, self._path, begin + offset, size)
        if found and begin + end > self._size:
            raise refused(self._path, f"it has {self._size:,} bytes, its header describes {begin + end:,}")
        return found

    def _alignment(self, metadata: Mapping[str, Any]) -> int:
        value = metadata.get("general.alignment", 32)
        if type(value) is not int or not 1 <= value <= 1 << 16 or value & (value - 1):
            raise refused(self._path, f"its general.alignment is {value!r:.60}")
        return value

    def _count(self, what: str) -> int:
        if (count := self._number("Q")) > ENTRIES_LIMIT:
            raise refused(self._path, f"its header has {count:,} {what}, more than {ENTRIES_LIMIT:,}")
        return count

    def _text(self, limit: int) -> str:
        if (length := self._number("Q")) > limit:
            raise refused(self._path, f"its header has a text of {length:,} bytes, more than {limit:,}")
        try:
            return self._bytes(length).decode()
        except UnicodeDecodeError:
            raise refused(self._path, "its header has a text that is not UTF-8") from None

    def _number(self, code: str) -> Any:
        return struct.unpack(f"<{code}", self._bytes(struct.calcsize(f"<{code}")))[0]

    def _bytes(self, count: int) -> bytes:
        self._place += count
        data = self._file.read(count) if self._place <= HEADER_LIMIT_BYTES else b""
        if len(data) < count:
            raise refused(self._path, "its header ends too early, or is too long")
        return data
