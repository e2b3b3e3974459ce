"""What a sandboxed interpreter may read."""

import sys

from pie_mlx.runtime.sandbox.interpreter import interpreter_paths


def test_an_interpreter_of_homebrew_may_read_its_libraries(monkeypatch):
    monkeypatch.setattr(sys, "base_prefix", "/opt/homebrew/Cellar/python@3.12/3.12.7/Frameworks/Python.framework")
    found = interpreter_paths.__wrapped__()
    assert {"/opt/homebrew/Cellar", "/opt/homebrew/opt", "/opt/homebrew/lib"} <= set(found)


def test_another_interpreter_may_not_read_the_root():
    assert "/" not in interpreter_paths.__wrapped__()
