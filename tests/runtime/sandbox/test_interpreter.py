"""What a sandboxed interpreter may read, and which package it runs."""

import subprocess
import sys

import pie_mlx
from pie_mlx.runtime.sandbox.interpreter import interpreter_paths, isolated_python


def test_an_interpreter_of_homebrew_may_read_its_libraries(monkeypatch):
    monkeypatch.setattr(sys, "base_prefix", "/opt/homebrew/Cellar/python@3.12/3.12.7/Frameworks/Python.framework")
    found = interpreter_paths.__wrapped__()
    assert {"/opt/homebrew/Cellar", "/opt/homebrew/opt", "/opt/homebrew/lib"} <= set(found)


def test_another_interpreter_may_not_read_the_root():
    assert "/" not in interpreter_paths.__wrapped__()


def test_another_interpreter_runs_the_package_of_the_one_that_started_it(monkeypatch, tmp_path):
    own = tmp_path / "pie_mlx" / "__init__.py"
    own.parent.mkdir()
    own.touch()
    monkeypatch.setattr(pie_mlx, "__file__", str(own))
    command = isolated_python("import pie_mlx; print(pie_mlx.__file__, sys.argv[1:])", "word")
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    assert ended.stdout == f"{own} ['word']\n"
