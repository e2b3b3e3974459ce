"""Masks as run lengths: arguments and results."""

import random
from typing import Any

from inferlet import brle
from pie_mlx.errors import PieError

FUNCTIONS = {
    "canonical": brle.canonical,
    "restriction": brle.restriction,
    "and": brle.brle_and,
    "combine": brle.combine,
    "allowsAny": brle.allows_any,
    "allowOnly": brle.allow_only,
    "spans": brle.spans,
}


def mask_cases() -> list[dict[str, Any]]:
    """Edges by hand, and masks at random."""
    return [_case(name, arguments) for name, arguments in [*_edges(), *_random_calls(random.Random(1))]]


def _edges() -> list[tuple[str, list[Any]]]:
    masks: list[list[int]] = [[], [0], [5], [0, 5], [2, 0, 3], [0, 0, 0], [1, -1], [3, 0, 0, 4]]
    found: list[tuple[str, list[Any]]] = [(name, [mask]) for name in ("canonical", "restriction") for mask in masks]
    found += [("allowsAny", [mask, width]) for mask in masks[:5] for width in (0, 3, 5, 6)]
    found += [("allowOnly", [tokens]) for tokens in ([], [-1], [0], [4, 2, 3, 2], [7, 0])]
    return found + [("spans", ranges) for ranges in ([], [[2, 1]], [[0, 4], [4, 6]], [[5, 9], [2, 7]], [[-1, 2]])]


def _random_calls(source: random.Random) -> list[tuple[str, list[Any]]]:
    def mask() -> list[int]:
        return [source.choice((0, 1, 2, 7, 30)) for _ in range(source.randrange(6))]

    found: list[tuple[str, list[Any]]] = []
    for _ in range(30):
        found += [("canonical", [mask()]), ("and", [mask(), mask()]), ("combine", [[mask(), mask(), mask()]])]
        found += [("allowsAny", [mask(), source.randrange(9)])]
        found += [("spans", [sorted((source.randrange(20), source.randrange(20))) for _ in range(3)])]
    return found


def _case(name: str, arguments: list[Any]) -> dict[str, Any]:
    try:
        given = [tuple(pair) for pair in arguments] if name == "spans" else arguments
        return {"call": name, "arguments": arguments, "result": FUNCTIONS[name](*given)}
    except PieError as error:
        return {"call": name, "arguments": arguments, "error": error.code}
