"""Checks: from what a program returned to a score from 0 to 1."""

import importlib
import importlib.util
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from pie_mlx.errors import InvalidArgumentError
from pie_mlx.runtime.evaluation.dataset import Row

Check = Callable[[Any], float]
"""A score for a result."""
CheckFor = Callable[[Row], Check]
"""The check of a row; raises InvalidArgumentError where that has not what the check needs."""
BUILT_IN = ("exact", "contains", "regex", "json-schema", "number")
_HINT = f"choose {', '.join(BUILT_IN)}, or MODULE:FUNCTION"


def check_named(name: str) -> CheckFor:
    """A check of the command line: a built-in one with the `expected` of each row, or a Python function of the result
    and `expected`, as `module:function` or `file.py:function`. Raises InvalidArgumentError."""
    if ":" in name:
        function = _function(name)
        return lambda row: lambda result: _score(function(result, row.expected))
    if name not in BUILT_IN:
        raise InvalidArgumentError(f"check {name!r}: unknown", hint=_HINT)
    return lambda row: _built_in(name, row.expected)


def checks_of(row: Row, chosen: CheckFor | None) -> list[Check]:
    """Those of the row, or the chosen one, or whether the result is the expected one. A row names built-in checks only:
    data sets come from elsewhere. Raises InvalidArgumentError."""
    if row.checks:
        return [_of_row(row, given) for given in row.checks]
    if chosen is None and row.expected is None:
        raise InvalidArgumentError(
            f"data set, {row.name}: neither 'expected' nor a check", hint="add one, or give --check"
        )
    return [(chosen or check_named("exact"))(row)]


def _of_row(row: Row, given: Any) -> Check:
    if isinstance(given, str):
        name, expected, rest = given, row.expected, cast("dict[str, Any]", {})
    elif isinstance(given, dict) and given:
        fields = cast("dict[str, Any]", given)
        name, expected = next(iter(fields.items()))
        rest = {key: value for key, value in fields.items() if key != name}
    else:
        raise InvalidArgumentError(
            f"data set, {row.name}: check {given!r}", hint='write "exact" or {"contains": "..."}'
        )
    name = name.replace("_", "-")
    if name not in BUILT_IN or rest.keys() - {"tolerance"}:
        raise InvalidArgumentError(
            f"data set, {row.name}: check {given!r}: unknown", hint=f"choose {', '.join(BUILT_IN)}"
        )
    return _built_in(name, expected, _number(rest.get("tolerance", 0.0)))


def _built_in(name: str, expected: Any, tolerance: float = 0.0) -> Check:
    match name:
        case "exact":
            return lambda result: float(_plain(result) == _plain(expected))
        case "contains":
            parts = cast("list[Any]", expected if isinstance(expected, list) else [expected])
            return lambda result: float(all(_text(part) in _text(result) for part in parts))
        case "regex":
            pattern = _pattern(str(expected))
            return lambda result: float(pattern.search(_text(result)) is not None)
        case "json-schema":
            return _schema_check(expected)
        case _:
            number = _number(expected)
            return lambda result: _is_near(result, number, tolerance)


def _pattern(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as error:
        raise InvalidArgumentError(f"regex {text!r}: {error}", hint="see Python's re") from None


def _schema_check(schema: Any) -> Check:
    from jsonschema import Draft202012Validator, SchemaError  # comes with mcp
    from referencing import Registry
    from referencing.exceptions import Unresolvable

    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        raise InvalidArgumentError(f"json-schema: {error.message}", hint="mend the schema") from None
    validator = Draft202012Validator(schema, registry=Registry())  # fetches nothing

    def check(result: Any) -> float:
        try:
            return float(validator.is_valid(_parsed(result)))  # pyright: ignore[reportUnknownMemberType]
        except Unresolvable as error:
            raise InvalidArgumentError(
                f"json-schema: $ref {error.ref!r}: not in the schema", hint="put it under $defs"
            ) from None
        except ValueError:  # a text that is no JSON
            return 0.0

    return check


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidArgumentError(f"check: {value!r} is no number", hint="write a number")
    return float(value)


def _is_near(result: Any, expected: float, tolerance: float) -> float:
    """The last number in a text is its answer."""
    numbers = re.findall(r"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?", _text(result).replace(",", ""))
    return float(bool(numbers) and abs(float(numbers[-1]) - expected) <= tolerance)


def _plain(value: Any) -> Any:
    return value.strip() if isinstance(value, str) else value


def _parsed(value: Any) -> Any:
    return json.loads(value) if isinstance(value, str) else value


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _score(value: object) -> float:
    if not isinstance(value, bool | int | float) or not 0 <= value <= 1:
        raise InvalidArgumentError(f"check: it returned {value!r}", hint="return a bool, or a number from 0 to 1")
    return float(value)


def _function(name: str) -> Callable[[Any, Any], object]:
    place, _, attribute = name.rpartition(":")
    try:
        module = _loaded_file(Path(place)) if place.endswith(".py") else _imported(place)
    except (ImportError, OSError) as error:
        raise InvalidArgumentError(f"check {name!r}: {error}", hint=_HINT) from None
    function = getattr(module, attribute, None)
    if not callable(function):
        raise InvalidArgumentError(f"check {name!r}: {place} has no function {attribute!r}", hint=_HINT)
    return function


def _imported(module: str) -> Any:
    """From the current directory as well, as `python -m` does."""
    sys.path.insert(0, str(Path.cwd()))
    try:
        return importlib.import_module(module)
    finally:
        sys.path.pop(0)


def _loaded_file(file: Path) -> Any:
    spec = importlib.util.spec_from_file_location(f"pie_check_{file.stem}", file)
    if spec is None or spec.loader is None:
        raise ImportError(f"{file} is no Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
