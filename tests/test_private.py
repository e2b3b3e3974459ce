"""Tests see what users of a class see."""

import ast
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).parent
FOREIGN = {
    "_scproxy: _get_proxies, in darwin.py": "urllib asks CPython's module for macOS for them",
    "_scproxy: _get_proxy_settings, in darwin.py": "urllib asks CPython's module for macOS for them",
    "textual: _wait_for_screen, in tui/harness.py": "Pilot.pause waits for an idle processor as well",
    "textual: _on_timer_update, in tui/harness.py": "the screen draws by a timer of its own",
    "textual: _compositor, in tui/harness.py": "nothing else gives the text on the screen",
    "textual: _notifications, in tui/harness.py": "nothing else gives the toasts, which run_test hides",
}
"""Of other libraries, each touched in one place, with the reason."""
PUBLIC_ALL_THE_SAME = {"_exit", "_replace", "_asdict", "_fields", "_make", "_getframe"}
"""Of the standard library, documented though they begin with an underscore."""
OWN = {"self", "cls"}


def is_private(node: ast.Attribute) -> bool:
    own = isinstance(node.value, ast.Name) and node.value.id in OWN
    hidden = node.attr.startswith("_") and not node.attr.startswith("__")
    return hidden and not own and node.attr not in PUBLIC_ALL_THE_SAME


def touched() -> Iterator[str]:
    for file in TESTS.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and is_private(node):
                yield f"{node.attr}, in {file.relative_to(TESTS)}"


def test_no_private_attributes_are_touched_but_those_of_libraries_that_have_no_other_way():
    assert sorted(touched()) == sorted(place.partition(": ")[2] for place in FOREIGN)
