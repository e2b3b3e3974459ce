"""Modules of the JavaScript SDK that are written from Python code."""

from pathlib import Path

import pytest

from tools.javascript.__main__ import modules
from tools.javascript.declarations import DIGEST, TYPES, digest, sources
from tools.javascript.files import SDK

MODULES = modules()


@pytest.mark.parametrize("path", MODULES)
def test_a_generated_module_is_what_the_code_gives(path: str) -> None:
    assert (SDK / path).read_text(encoding="utf-8") == MODULES[path], "run python -m tools.javascript"


def test_the_declarations_are_made_from_these_modules() -> None:
    assert DIGEST.read_text(encoding="utf-8").strip() == digest(), "run make js-types"


def test_each_module_has_declarations() -> None:
    modules = {file.relative_to(SDK).with_suffix("") for file in sources()}
    assert {Path(str(file.relative_to(TYPES)).removesuffix(".d.mts")) for file in TYPES.rglob("*.d.mts")} == modules


def test_no_module_is_longer_than_400_lines() -> None:
    lines = {file: file.read_text(encoding="utf-8").count("\n") for file in sources()}
    assert {file.name for file, count in lines.items() if count > 400} == {"types.mjs"}  # written by a tool
