"""The tests are where what they test is: a folder of tests mirrors a folder, or one module, of the package."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ROOMS = ["runtime", "server"]
"""Those whose tests mirror them; others are to follow."""


def folders(root):
    """Folders with Python files below one, relative to it."""
    return {file.parent.relative_to(root) for file in root.rglob("*.py")} - {Path()}


@pytest.mark.parametrize("room", ROOMS)
def test_each_folder_of_tests_mirrors_a_room(room):
    package = ROOT / "pie_mlx" / room
    strays = [
        str(folder)
        for folder in folders(ROOT / "tests" / room)
        if not (package / folder).is_dir() and not (package / folder).with_suffix(".py").is_file()
    ]
    assert strays == []


@pytest.mark.parametrize("room", ROOMS)
def test_each_room_has_a_folder_of_tests(room):
    assert folders(ROOT / "pie_mlx" / room) - folders(ROOT / "tests" / room) == set()
