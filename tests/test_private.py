"""Tests see what users of a class see: how many touch a private attribute may only fall."""

import ast
from collections import Counter
from pathlib import Path

TESTS = Path(__file__).parent
MOST = 170
"""Accesses to private attributes of objects of ours. Lower it when one goes; nothing raises it."""
PUBLIC_ALL_THE_SAME = {"_exit", "_replace", "_asdict", "_fields", "_make", "_getframe"}
"""Of the standard library, documented though they begin with an underscore."""
OWN = {"self", "cls"}


def is_private(node: ast.Attribute) -> bool:
    own = isinstance(node.value, ast.Name) and node.value.id in OWN
    hidden = node.attr.startswith("_") and not node.attr.startswith("__")
    return hidden and not own and node.attr not in PUBLIC_ALL_THE_SAME


def test_no_more_private_attributes_are_touched_than_before():
    found = Counter(
        f"{node.attr} in {file.relative_to(TESTS)}"
        for file in TESTS.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and is_private(node)
    )
    assert found.total() <= MOST, "\n".join(f"{count} {place}" for place, count in sorted(found.items()))
