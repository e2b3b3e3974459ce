"""The package reads as rooms: small folders, each with its rule, and files that fit into a head."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = (ROOT / "pie_mlx", ROOT / "inferlet")
FILES = [file for package in PACKAGES for file in package.rglob("*.py")]
FOLDERS = sorted(file.parent for file in FILES if file.name == "__init__.py")
MOST_FILES, MOST_LINES = 15, 400
CROWDED = {
    "inferlet": "its modules are the public interface, which stays flat",
    "inferlet/sync": "it has the modules of the public interface once more",
}
"""Folders with more files, and why."""


def path(place: Path) -> str:
    return place.relative_to(ROOT).as_posix()


def modules(folder: Path) -> list[Path]:
    return [file for file in folder.glob("*.py") if file.name not in ("__init__.py", "__main__.py")]


@pytest.mark.parametrize("folder", FOLDERS, ids=path)
def test_a_folder_says_in_its_docstring_what_belongs_there(folder: Path) -> None:
    assert (folder / "__init__.py").read_text(encoding="utf-8").startswith('"""')


def test_the_files_that_a_folder_names_in_its_docstring_are_there() -> None:
    named = {folder: re.findall(r"`([\w/]+\.py)`", (folder / "__init__.py").read_text("utf-8")) for folder in FOLDERS}
    assert sum(map(len, named.values())) > 20
    assert [
        path(folder / name) for folder, names in named.items() for name in names if not (folder / name).exists()
    ] == []


def test_no_folder_has_more_files_than_one_takes_in_at_a_glance() -> None:
    crowded = {path(folder): len(modules(folder)) for folder in FOLDERS if len(modules(folder)) > MOST_FILES}
    assert crowded.keys() == CROWDED.keys(), crowded


def test_no_file_is_longer_than_400_lines() -> None:
    lines = {path(file): len(file.read_text(encoding="utf-8").splitlines()) for file in FILES}
    assert {name: number for name, number in lines.items() if number > MOST_LINES} == {}
