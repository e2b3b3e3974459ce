"""Numbers of a schema that an engine would take forever over."""

from decimal import Decimal
from math import isfinite, lcm
from typing import Any

from pie_mlx.engine.text.grammar.schema import Schema, step, subschemas
from pie_mlx.errors import GrammarError

MAXIMUM_MODULUS = 10_000
"""A matcher has as many states as the modulus; at a hundred thousand a single mask takes seconds."""


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
