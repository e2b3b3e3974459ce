"""Tests see what users of a class see."""

import ast
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).parent
FOREIGN = {
    "_scproxy: _get_proxies, in darwin.py": "urllib asks CPython's module for macOS for them",
    "_scproxy: _get_proxy_settings, in darwin.py": "urllib asks CPython's module for macOS for them",
    "huggingface_hub: _cache_manager, in cli/model/test_command.py": "some versions copy a constant there",
    "wasmtime: _ffi, in wasm/binding/test_values.py": "nothing else tells the layout of its values",
    "textual: _wait_for_screen, in tui/harness.py": "Pilot.pause waits for an idle processor as well",
    "textual: _on_timer_update, in tui/harness.py": "the screen draws by a timer of its own",
    "textual: _background_screens, in tui/harness.py": "the stack of screens that a picture shows",
    "textual: _dirty_widgets, in tui/harness.py": "what is not painted must not be painted later",
    "textual: _update_mouse_over, in tui/harness.py": "it follows each layout, as painting does",
    "textual: _compositor, in tui/harness.py": "nothing else gives the text on the screen",
    "textual: _notifications, in tui/harness.py": "nothing else gives the toasts, which run_test hides",
}
"""Of other libraries, each touched in one place, with the reason."""
PUBLIC_ALL_THE_SAME = {"_exit", "_replace", "_asdict", "_fields", "_make", "_getframe", "_repr_html_"}
"""Of the standard library and IPython, documented though they begin with an underscore."""
OWN = {"self", "cls"}
BY_NAME = {"setattr", "getattr", "delattr", "hasattr", "object", "attrgetter"}
"""Calls that take the name of an attribute as a text; `object` is that of `patch`."""


def names(node: ast.AST) -> Iterator[str]:
    """The attributes that a piece of code reads, imports or patches."""
    match node:
        case ast.Attribute(value=ast.Name(id=name)) if name in OWN:
            pass
        case ast.Attribute(attr=name):
            yield name
        case ast.ImportFrom(names=imported):
            yield from (alias.name for alias in imported)
        case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name), args=given) if name in BY_NAME:
            texts = [one.value for one in given[:2] if isinstance(one, ast.Constant) and isinstance(one.value, str)]
            yield from (part for text in texts for part in text.split("."))
        case _:
            pass


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__") and name not in PUBLIC_ALL_THE_SAME


def touched() -> Iterator[str]:
    for file in TESTS.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            yield from (f"{name}, in {file.relative_to(TESTS)}" for name in names(node) if is_private(name))


def test_no_private_attributes_are_touched_but_those_of_libraries_that_have_no_other_way():
    assert sorted(touched()) == sorted(place.partition(": ")[2] for place in FOREIGN)
