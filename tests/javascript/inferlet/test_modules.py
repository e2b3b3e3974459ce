"""Tests that are written in JavaScript: one process for each file of them."""

import re
from functools import cache
from typing import Any

import pytest

from tests.javascript.inferlet.running import HERE, run

FILES = sorted(file.name for file in HERE.glob("test_*.mjs"))
TESTS = [
    (file, name) for file in FILES for name in re.findall(r"^test\('(.*)', ", (HERE / file).read_text("utf-8"), re.M)
]


@cache
def outcomes(file: str) -> dict[str, Any]:
    return run(file)


@pytest.mark.parametrize(("file", "name"), TESTS, ids=[name for _, name in TESTS])
def test_in_javascript(file: str, name: str) -> None:
    assert outcomes(file)[name] is None, outcomes(file)[name]
