"""Numbers of a schema that an engine would take forever over, or round."""

from decimal import Decimal
from math import isfinite, lcm
from typing import Any, cast

from pie_mlx.engine.text.grammar.schema import Schema, replace_subschemas, step, subschemas
from pie_mlx.errors import GrammarError

MAXIMUM_MODULUS = 10_000
"""A matcher has as many states as the modulus; at a hundred thousand a single mask takes seconds."""

_EXACT_UP_TO = 2**53
"""Engines read every number as a floating-point one, which tells whole numbers apart up to here."""
_LARGEST = 2**63
"""A bound beyond what 64 bits hold is moved there."""
_INWARDS = {"minimum": 0, "maximum": 0, "exclusiveMinimum": 1, "exclusiveMaximum": -1}
"""What an engine adds to a bound to have the first number that is allowed."""


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


def _divisors(schema: Schema, path: str = "$") -> list[tuple[str, float]]:
    value: Any = schema.get("multipleOf")
    is_divisor = isinstance(value, int | float) and not isinstance(value, bool) and value > 0 and isfinite(value)
    found: list[tuple[str, float]] = [(step(path, "multipleOf"), value)] if is_divisor else []
    for place, inner, _ in subschemas(schema, path):
        found += _divisors(inner, place)
    return found


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
    bounds = [keyword for keyword, inwards in _INWARDS.items() if _is_moved(schema.get(keyword), inwards)]
    return bounds + [keyword for keyword in ("const", "enum") if _is_respelled(schema.get(keyword))]


def _is_moved(bound: Any, inwards: int) -> bool:
    if not isinstance(bound, int | float) or abs(bound) < _EXACT_UP_TO:
        return False
    if abs(bound) > _LARGEST:
        return True
    held = min(max(int(float(bound) + inwards), -_LARGEST), _LARGEST - 1)
    return held != int(bound) + inwards


def _is_respelled(value: Any) -> bool:
    """Whether a constant holds a whole number that a floating-point one is not written as."""
    if isinstance(value, list | dict):
        inner = cast("Schema", value).values() if isinstance(value, dict) else cast("list[Any]", value)
        return any(map(_is_respelled, inner))
    return isinstance(value, int) and Decimal(repr(float(str(int(value))))) != value
