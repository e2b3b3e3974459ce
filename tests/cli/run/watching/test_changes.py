import os

import pytest

from pie_mlx.cli.run.watching import changes
from pie_mlx.cli.run.watching.changes import changed_names, next_change, snapshot


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    monkeypatch.setattr(changes, "POLL_SECONDS", 0)


@pytest.fixture
def folder(tmp_path):
    for name in ("main.py", "lib/helper.py", ".git/index", "__pycache__/main.pyc", "dist/one.pie"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("1")
    return tmp_path


def test_the_files_of_a_directory_are_those_that_somebody_writes(folder):
    assert {file.name for file in snapshot([folder])} == {"main.py", "helper.py"}


def test_a_file_that_is_replaced_by_another_one_has_changed(folder):
    before = snapshot([folder])
    (folder / ".swap").write_text("1")
    os.utime(folder / ".swap", ns=(0, (folder / "main.py").stat().st_mtime_ns))
    os.replace(folder / ".swap", folder / "main.py")
    assert changed_names(before, snapshot([folder])) == ["main.py"]


def test_new_files_and_files_that_are_gone_are_changes(folder):
    before = snapshot([folder])
    (folder / "more.py").write_text("")
    (folder / "lib/helper.py").unlink()
    assert changed_names(before, snapshot([folder])) == ["helper.py", "more.py"]


async def test_a_change_counts_when_it_has_come_to_rest():
    looks = iter([{"a": 1}, {"a": 2}, {"a": 3}, {"a": 4}, {"a": 4}, {"a": 5}])
    assert await next_change({"a": 1}, lambda: next(looks)) == {"a": 4}


async def test_a_file_that_is_missing_for_a_moment_is_waited_for():
    looks = iter([{}, {}, {}, {"a": 2}, {"a": 2}])
    assert await next_change({"a": 1}, lambda: next(looks)) == {"a": 2}
