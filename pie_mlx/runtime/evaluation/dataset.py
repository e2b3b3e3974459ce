"""Data sets: a JSON object per line."""

import hashlib
import json
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from pie_mlx.documents import json_object, read_limited
from pie_mlx.errors import InvalidArgumentError
from pie_mlx.runtime.program.parameters import as_object

DATASET_LIMIT_BYTES = 256 << 20
LINE_LIMIT_BYTES = 8 << 20
_KEYS = ("id", "input", "expected", "check", "checks")


@dataclass(frozen=True, slots=True)
class Row:
    """`id` finds it again in the next run: its own one, or a digest of its input. `name` is for people: its own id, or
    its line. `checks` are those of the row alone."""

    id: str
    name: str
    input: dict[str, Any]
    expected: Any = None
    checks: tuple[Any, ...] = ()


def read_dataset(path: Path) -> list[Row]:
    """Raises InvalidArgumentError, which names the line, and OSError."""
    lines = read_limited(path, DATASET_LIMIT_BYTES).split(b"\n")
    rows = [_row(path, number, line) for number, line in enumerate(lines, 1) if line.strip()]
    if not rows:
        raise InvalidArgumentError(f"{path}: no rows", hint='write one JSON object a line: {"input": {...}, ...}')
    return _numbered(rows)


def _row(path: Path, number: int, line: bytes) -> Row:
    place = f"{path}:{number}"
    try:
        found = json_object(line, LINE_LIMIT_BYTES)
    except InvalidArgumentError as error:
        raise InvalidArgumentError(f"{place}: {error.message}", hint=error.hint) from None
    unknown = next((name for name in found if name not in _KEYS), None)
    if unknown is not None or "input" not in found:
        what = f"unknown key {unknown!r}" if unknown is not None else "no 'input'"
        raise InvalidArgumentError(f"{place}: {what}", hint=f"a row has {', '.join(_KEYS)}")
    given = found["input"]
    value = as_object({"prompt": given} if isinstance(given, str) else given)
    if value is None:
        raise InvalidArgumentError(f"{place}: input is no object", hint='write {"prompt": "..."}, or a text for it')
    several = found.get("checks", [found["check"]] if "check" in found else [])
    if not isinstance(several, list):
        raise InvalidArgumentError(f"{place}: checks is no list", hint="write one as 'check'")
    own = str(found["id"]) if "id" in found else ""
    return Row(
        own or _digest(value), own or f"line {number}", value, found.get("expected"), tuple(cast("list[Any]", several))
    )


def _digest(value: object) -> str:
    return hashlib.blake2b(json.dumps(value, sort_keys=True).encode(), digest_size=4).hexdigest()


def _numbered(rows: list[Row]) -> list[Row]:
    """Rows whose names differ: equal ones are counted."""
    seen: Counter[str] = Counter()
    named: list[Row] = []
    for row in rows:
        seen[row.id] += 1
        count = seen[row.id]
        named.append(row if count == 1 else replace(row, id=f"{row.id}#{count}"))
    return named
