"""Which program a word means."""

from dataclasses import replace
from pathlib import Path

import pytest

from pie_mlx.errors import LaunchError
from pie_mlx.runtime.children.program_lookup import child_program, paths_only
from pie_mlx.runtime.program.program import Program, find_program

SOURCE = "async def main(input):\n    return 1\n"


@pytest.fixture
def parent(tmp_path: Path) -> Program:
    """A program with a helper beside it and a program in a directory below."""
    home = tmp_path / "home"
    (home / "sub").mkdir(parents=True)
    for file in ("main.py", "helper.py", "sub/main.py"):
        (home / file).write_text(SOURCE)
    (tmp_path / "outside.py").write_text(SOURCE)
    return find_program(home)


@pytest.mark.parametrize(
    ("word", "name"), [("helper.py", "helper"), ("./helper.py", "helper"), ("sub", "sub"), ("./sub", "sub")]
)
def test_paths_begin_at_the_parents_directory(parent: Program, word: str, name: str) -> None:
    assert child_program(word, parent, paths_only).identity == f"{name}@0.0.0"


@pytest.mark.parametrize("word", ["../outside.py", "sub/../../outside.py", "/etc/passwd", "/etc/hosts.py"])
def test_a_program_reaches_nothing_outside_of_its_directory(parent: Program, word: str) -> None:
    with pytest.raises(LaunchError, match="outside the directory"):
        child_program(word, parent, paths_only)


@pytest.mark.parametrize("word", ["home", "home@0.0.0"])
def test_its_own_name_means_the_program_itself(parent: Program, word: str) -> None:
    assert child_program(word, parent, paths_only) is parent


def test_a_link_to_the_outside_is_outside(parent: Program) -> None:
    (parent.main_file.parent / "link.py").symlink_to(parent.main_file.parent.parent / "outside.py")
    with pytest.raises(LaunchError, match="outside the directory"):
        child_program("link.py", parent, paths_only)


def test_a_lone_file_launches_files_beside_it(parent: Program) -> None:
    lone = find_program(parent.main_file.parent / "helper.py")
    assert child_program("sub", lone, paths_only).identity == "sub@0.0.0"


def test_a_function_launches_any_path(parent: Program) -> None:
    assert child_program(str(parent.main_file.parent / "helper.py"), None, paths_only).identity == "helper@0.0.0"


def test_names_are_resolved(parent: Program) -> None:
    asked: list[str] = []

    def resolve(name: str) -> Program:
        asked.append(name)
        return parent

    assert child_program("tool@1.2.3", parent, resolve) is parent
    assert asked == ["tool@1.2.3"]


def test_a_dependency_is_the_version_the_program_was_installed_with(parent: Program) -> None:
    tool = find_program(parent.main_file.parent / "helper.py")
    assert child_program("tool", replace(parent, dependencies={"tool": tool}), paths_only) is tool


@pytest.mark.parametrize(
    "word", ["", "tool", "tool@latest", "a\0b.py", "missing.py", "./missing", "x" * 300, "x" * 300 + ".py", "a/" * 600]
)
def test_what_is_not_there_is_a_launch_error(parent: Program, word: str) -> None:
    with pytest.raises(LaunchError):
        child_program(word, parent, paths_only)
