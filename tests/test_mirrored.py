"""The tests are where what they test is: a folder of tests mirrors a folder, or one module, of the package."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ROOMS = ["backends", "cli", "engine", "metal", "runtime", "server", "tui", "wasm", "../inferlet"]
ACROSS = {"behaviour"}
"""Folders for what several rooms do together."""
ELSEWHERE = {"cli/bench": "tests/bench"}
"""Rooms without tests of their own, and where they are tested."""


def folders(root: Path) -> set[Path]:
    """Folders with Python files below one, relative to it."""
    return {file.parent.relative_to(root) for file in root.rglob("*.py")} - {Path()}


@pytest.mark.parametrize("room", ROOMS)
def test_each_folder_of_tests_mirrors_a_room(room: str) -> None:
    package = ROOT / "pie_mlx" / room
    strays = [
        str(folder)
        for folder in folders(ROOT / "tests" / room)
        if not (package / folder).is_dir() and not (package / folder).with_suffix(".py").is_file()
    ]
    assert set(strays) <= ACROSS


@pytest.mark.parametrize("room", ROOMS)
def test_each_room_has_a_folder_of_tests(room: str) -> None:
    package, tests = ROOT / "pie_mlx" / room, ROOT / "tests" / room
    untested = {f"{room}/{folder}" for folder in folders(package) - folders(tests)}
    assert untested == {folder for folder in ELSEWHERE if folder.startswith(f"{room}/")}
