"""Reads untrusted JSON and TOML within bounds.

Python's readers answer hostile text with errors of many kinds, or after minutes. Here every fault of a document is an
InvalidArgumentError that names it; callers add the file.
"""

import errno
import json
import math
import os
import re
import stat
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NoReturn, TypeVar, cast

import msgspec

from pie_mlx.errors import InvalidArgumentError

LEVELS = 64
"""Nesting of lists and tables: far above real documents and far below Python's recursion limit."""

JSON_LIMIT_BYTES = 64 << 20
TOML_LIMIT_BYTES = 1 << 20

KEY_LEVELS = 8
"""Parts of a dotted TOML key. Python's reader needs time quadratic in them for each line, and more for the document."""
WORD_CHARACTERS = 128
"""Longest number or bare key. Python writes no number of more than 4,300 digits."""
SHOWN_CHARACTERS = 32
_HINT = "correct it, or fetch it again"

# Each alternative also matches an unfinished string up to the end, so that no text is scanned twice.
_TOML_STRING = re.compile(
    r'"""(?:\\.?|[^\\])*?(?:"""|\Z)|' r"'''.*?(?:'''|\Z)|" r'"(?:\\.?|[^"\\\n])*"?|' r"'[^'\n]*'?|#[^\n]*", re.DOTALL
)
_TOML_MARK = re.compile(r"[\[\]{}]")
_TOML_SEPARATORS = re.compile(r"[\[\]{},=\n]")
_NESTED = frozenset({dict, list})
"""What readers of JSON and TOML make of nested values. Vocabularies have hundreds of thousands of them."""
_NO_WORD = re.compile(r"[^\w+-]+")

Wanted = TypeVar("Wanted")


def json_value(text: str | bytes, limit_bytes: int = JSON_LIMIT_BYTES, *, strict: bool = False) -> Any:
    """The value of a JSON text. `strict` refuses NaN and numbers that no float holds, which Python's reader allows.

    Raises InvalidArgumentError for anything else, for nesting beyond LEVELS and for more than `limit_bytes`.
    """
    if len(text) > limit_bytes:
        raise _too_long(limit_bytes)
    try:
        value = json.loads(text, **STRICT_NUMBERS) if strict else json.loads(text)
    except RecursionError:
        raise _too_deep() from None
    except (ValueError, MemoryError) as error:
        raise InvalidArgumentError(f"not JSON: {error}", hint=_HINT) from None
    _check_levels(value)
    return value


def json_object(text: str | bytes, limit_bytes: int = JSON_LIMIT_BYTES) -> dict[str, Any]:
    """As `json_value`, for an object."""
    value = json_value(text, limit_bytes)
    if not isinstance(value, dict):
        raise InvalidArgumentError("not a JSON object", hint=_HINT)
    return cast("dict[str, Any]", value)


def json_struct(text: str | bytes, wanted: type[Wanted]) -> Wanted:
    """The value of a JSON text of a known shape. Raises InvalidArgumentError."""
    try:
        return msgspec.json.decode(text, type=wanted)
    except RecursionError:
        raise _too_deep() from None
    except (ValueError, MemoryError) as error:
        raise InvalidArgumentError(f"not the JSON that is expected: {error}", hint=_HINT) from None


def toml_document(text: str, limit_bytes: int = TOML_LIMIT_BYTES) -> dict[str, Any]:
    """The value of a TOML text. Raises InvalidArgumentError, for slow texts before reading them."""
    if len(text) > limit_bytes:
        raise _too_long(limit_bytes)
    if why := _toml_problem(_TOML_STRING.sub('""', text)):
        raise InvalidArgumentError(f"not TOML: {why}", hint=_HINT)
    try:
        document = tomllib.loads(text)
    except RecursionError:
        raise _too_deep() from None
    except (ValueError, MemoryError) as error:
        raise InvalidArgumentError(f"not TOML: {error}", hint=_HINT) from None
    _check_levels(document)
    return document


def read_limited(path: Path, limit_bytes: int) -> bytes:
    """The bytes of a regular file. Never waits for the writer of a pipe or the holder of a lease.

    Raises InvalidArgumentError for a longer file, OSError.
    """
    with open(path, "rb", opener=_at_once) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "Not a regular file", path)
        data = file.read(limit_bytes + 1)
    if len(data) > limit_bytes:
        raise _too_long(limit_bytes)
    return data


def _at_once(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK)


def _toml_problem(bare: str) -> str:
    """Why a text, without its strings and comments, would be slow to read, or ""."""
    if any(part.count(".") >= KEY_LEVELS for part in _TOML_SEPARATORS.split(bare)):
        return f"a key of more than {KEY_LEVELS} parts"
    if any(len(word) > WORD_CHARACTERS for word in _NO_WORD.split(bare)):
        return f"a number or a bare key of more than {WORD_CHARACTERS} characters"
    level = 0
    for mark in _TOML_MARK.finditer(bare):
        level = level + 1 if mark[0] in "[{" else max(0, level - 1)
        if level > LEVELS:
            return f"nested deeper than {LEVELS} levels"
    return ""


def _check_levels(value: object) -> None:
    level: list[object] = [value]
    for _ in range(LEVELS):
        level = [inner for outer in level for inner in _parts(outer) if type(inner) in _NESTED]
        if not level:
            return
    raise _too_deep()


def _parts(value: object) -> Iterable[object]:
    if isinstance(value, dict):
        return cast("dict[str, object]", value).values()
    return cast("list[object]", value) if isinstance(value, list) else ()


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not allowed")


def _finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError(f"{text[:SHOWN_CHARACTERS]} is too large for a float")
    return value


STRICT_NUMBERS: dict[str, Any] = {"parse_constant": _refuse_constant, "parse_float": _finite}
"""Options of `json.loads` that refuse, as ValueError, NaN and numbers that no float holds."""


def _too_deep() -> InvalidArgumentError:
    return InvalidArgumentError(f"nested deeper than {LEVELS} levels", hint="flatten it")


def _too_long(limit_bytes: int) -> InvalidArgumentError:
    size = f"{limit_bytes >> 20} MiB" if limit_bytes >= 1 << 20 else f"{limit_bytes >> 10} KiB"
    return InvalidArgumentError(f"longer than {size}", hint="make it smaller")
