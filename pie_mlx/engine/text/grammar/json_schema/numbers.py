"""Numbers of a schema that an engine would take forever over, or round."""

from collections.abc import Iterator
from decimal import Decimal
from math import inf, isfinite, lcm, nextafter
from typing import Any, cast

from pie_mlx.engine.text.grammar.json_schema.schema import Schema, replace_subschemas, step, subschemas
from pie_mlx.errors import GrammarError

MAXIMUM_MODULUS = 10_000
"""A matcher has as many states as the modulus; at a hundred thousand a single mask takes seconds."""

_EXACT_UP_TO = 2**53
"""Engines read every number as a floating-point one, which tells whole numbers apart up to here."""
_LARGEST = 2**63
"""A bound beyond what 64 bits hold is moved there."""
_HELD_BY_ALL = 2**62
"""Whole numbers beyond this are moved to the ends of 64 bits, and at the lower one an engine recurses until the process
ends. Only bounds of what lies further inside may be as large."""
_INWARDS = {"minimum": 0, "maximum": 0, "exclusiveMinimum": 1, "exclusiveMaximum": -1}
"""What an engine adds to a bound to have the first number that is allowed."""

_OUTWARDS = {"exclusiveMinimum": inf, "exclusiveMaximum": -inf}
_LEAST_STEP = 1e-16
"""Numbers with more digits after the point than this has are lost beside 0."""


def with_exact_bounds(schema: Schema) -> Schema:
    """The same schema, without the numbers that are nearest to an exclusive whole bound where another bound lies in the
    next unit: of `exclusiveMinimum` 1 and `maximum` 1.5, engines allow 1."""
    schema = _with_numeric_bounds(schema)
    bounds: list[Any] = [fields.get(keyword) for _, fields in _objects(schema) for keyword in _INWARDS]
    fractions = list(filter(_is_fraction, bounds))
    return _nudged(schema, fractions) if fractions else schema


def _with_numeric_bounds(schema: Schema) -> Schema:
    """`exclusiveMinimum: true` beside a `minimum`, as the fourth draft has it, as a bound of its own."""
    kept = dict(schema)
    for keyword, beside in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if kept.get(keyword) is True and beside in kept:
            kept[keyword] = kept.pop(beside)
    return replace_subschemas(kept, _with_numeric_bounds)


def _nudged(schema: Schema, fractions: list[float]) -> Schema:
    kept = dict(schema)
    for keyword, direction in _OUTWARDS.items():
        bound = kept.get(keyword)
        if isinstance(bound, bool) or not isinstance(bound, int | float) or _is_fraction(bound):
            continue
        if any(0 < (other - bound if direction > 0 else bound - other) < 1 for other in fractions):
            kept[keyword] = nextafter(bound, direction) if bound else (_LEAST_STEP if direction > 0 else -_LEAST_STEP)
    return replace_subschemas(kept, lambda inner: _nudged(inner, fractions))


def _is_fraction(value: Any) -> bool:
    return isinstance(value, float) and isfinite(value) and not value.is_integer()


def check_divisors(schema: Schema) -> None:
    """Raises GrammarError where `multipleOf` would need too many states.

    Factors of 2 and 5 cost nothing: the last digits decide on them. Divisors multiply where schemas are merged, so all
    of them are taken together.
    """
    together = 1
    for place, divisor in _divisors(schema):
        together = lcm(together, _coprime_part(divisor))
        if together > MAXIMUM_MODULUS:
            raise GrammarError(
                f"schema: {place}: needs {together} states, at most {MAXIMUM_MODULUS} are kept",
                hint="use a divisor whose part without factors of 2 and 5 is small, or drop it",
            )


def check_lowest(schema: Schema) -> None:
    """Raises GrammarError for a number at which an engine would end the process, wherever in the text it stands: a
    reference may lead there."""
    for path, fields in _objects(schema):
        keyword = next((key for key, value in fields.items() if _is_fatal(key, value)), None)
        if keyword is not None:
            raise GrammarError(
                f"schema: {step(path, keyword)}: has a number too large to be exact", hint="use smaller numbers"
            )


def _is_fatal(keyword: str, value: Any) -> bool:
    if keyword in ("maximum", "exclusiveMaximum"):
        return _is_moved(keyword, value)
    return keyword in ("const", "enum") and _is_respelled(value)


def _objects(value: Any, path: str = "$") -> Iterator[tuple[str, Schema]]:
    """Every object in a JSON value, and its path."""
    if isinstance(value, dict):
        yield path, cast("Schema", value)
    if isinstance(value, dict | list):
        keyed = cast("Schema", value).items() if isinstance(value, dict) else enumerate(cast("list[Any]", value))
        for key, inner in keyed:
            yield from _objects(inner, step(path, key))


def _divisors(schema: Schema) -> list[tuple[str, float]]:
    return [
        (step(path, "multipleOf"), fields["multipleOf"])
        for path, fields in _objects(schema)
        if _is_divisor(fields.get("multipleOf"))
    ]


def _is_divisor(value: Any) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and value > 0 and isfinite(value)


def _coprime_part(divisor: float) -> int:
    """What is left of a divisor's digits without factors of 2 and 5."""
    rest = int("".join(map(str, Decimal(str(divisor)).as_tuple().digits)))
    for factor in (2, 5):
        while rest % factor == 0:
            rest //= factor
    return rest


def rounded_numbers(schema: Schema, path: str = "$") -> list[tuple[str, str]]:
    """Path and reason of every bound and constant that an engine would take for another number."""
    found = [(step(path, keyword), "has a number too large to be exact") for keyword in _rounded(schema)]
    for place, inner, _ in subschemas(schema, path):
        found += rounded_numbers(inner, place)
    return found


def without_rounded_numbers(schema: Schema) -> Schema:
    """The same schema without those bounds and constants."""
    rounded = _rounded(schema)
    kept = {keyword: value for keyword, value in schema.items() if keyword not in rounded}
    return replace_subschemas(kept, without_rounded_numbers)


def _rounded(schema: Schema) -> list[str]:
    bounds = [keyword for keyword in _INWARDS if _is_moved(keyword, schema.get(keyword))]
    return bounds + [keyword for keyword in ("const", "enum") if _is_respelled(schema.get(keyword))]


def _is_moved(keyword: str, bound: Any) -> bool:
    inwards = _INWARDS[keyword]
    if not isinstance(bound, int | float) or abs(bound) < _EXACT_UP_TO:
        return False
    if abs(bound) > _LARGEST or (bound < -_HELD_BY_ALL and keyword.endswith("aximum")):
        return True
    held = min(max(int(float(bound) + inwards), -_LARGEST), _LARGEST - 1)
    return held != int(bound) + inwards


def _is_respelled(value: Any) -> bool:
    """Whether a constant holds a whole number that a floating-point one is not written as, or one too large for all."""
    if isinstance(value, list | dict):
        inner = cast("Schema", value).values() if isinstance(value, dict) else cast("list[Any]", value)
        return any(map(_is_respelled, inner))
    if isinstance(value, int | float) and abs(value) > _HELD_BY_ALL:
        return True
    return isinstance(value, int) and Decimal(repr(float(str(int(value))))) != value
