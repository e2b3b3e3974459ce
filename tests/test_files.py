"""Files that are there whole or not at all, directories of ours, and names that are safe."""

import errno
import os

import pytest

from pie_mlx.files import NAME_BYTES, create_file, disk_hint, make_own, make_private, safe_name, write_file
from tests.full_disk import fill, names, small_disk

__all__ = ["small_disk"]


def mode(path):
    return path.stat().st_mode & 0o7777


def test_a_file_is_replaced_at_one_stroke_and_is_private(tmp_path):
    file = tmp_path / "f"
    write_file(file, b"old")
    write_file(file, b"new")
    assert (file.read_bytes(), mode(file), os.listdir(tmp_path)) == (b"new", 0o600, ["f"])


@pytest.mark.parametrize("obstacle", ["file", "directory", "link"])
def test_a_new_file_takes_nobodys_place(tmp_path, obstacle):
    file = tmp_path / "f"
    {
        "file": lambda: file.write_bytes(b"old"),
        "directory": file.mkdir,
        "link": lambda: file.symlink_to(tmp_path / "elsewhere"),
    }[obstacle]()
    with pytest.raises(FileExistsError):
        create_file(file, b"new")
    assert os.listdir(tmp_path) == ["f"]


def test_the_longest_name_can_be_replaced(tmp_path):
    write_file(tmp_path / ("n" * 255), b"x")
    assert os.listdir(tmp_path) == ["n" * 255]


@pytest.mark.parametrize("write", [write_file, create_file])
def test_a_full_disk_is_told_and_nothing_half_is_left(small_disk, write):
    if write is write_file:
        write_file(small_disk / "f", b"old")
    fill(small_disk)
    before = names(small_disk)
    with pytest.raises(OSError, match="No space left on device") as caught:
        write(small_disk / ("f" if write is write_file else "g"), bytes(1 << 20))
    assert caught.value.filename == str(small_disk / ("f" if write is write_file else "g"))
    assert names(small_disk) == before


def test_an_interrupted_write_leaves_nothing(tmp_path, monkeypatch):
    def interrupt(descriptor):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_file(tmp_path / "f", b"x")
    assert os.listdir(tmp_path) == []


def test_a_directory_in_the_way_is_told_by_its_own_name(tmp_path):
    (tmp_path / "f").mkdir()
    with pytest.raises(IsADirectoryError) as caught:
        write_file(tmp_path / "f", b"x")
    assert (caught.value.filename, os.listdir(tmp_path)) == (str(tmp_path / "f"), ["f"])


def test_what_is_made_is_private_up_to_what_was_there(tmp_path):
    tmp_path.chmod(0o755)
    make_private(tmp_path / "a" / "b")
    assert [mode(path) for path in (tmp_path, tmp_path / "a", tmp_path / "a" / "b")] == [0o755, 0o700, 0o700]


@pytest.mark.parametrize("found", [0o700, 0o755, 0o500])
def test_a_directory_of_ours_stays_as_it_is(tmp_path, found):
    tmp_path.chmod(found)
    make_own(tmp_path)
    assert mode(tmp_path) == found
    tmp_path.chmod(0o700)


@pytest.mark.parametrize("found", [0o1777, 0o777, 0o775])
def test_a_directory_others_can_write_in_is_refused_and_stays_as_it_is(tmp_path, found):
    tmp_path.chmod(found)
    with pytest.raises(PermissionError, match="others can write in it"):
        make_own(tmp_path)
    assert mode(tmp_path) == found


def test_a_directory_of_another_user_is_refused_and_stays_as_it_is(tmp_path, monkeypatch):
    tmp_path.chmod(0o755)
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    with pytest.raises(PermissionError, match="it belongs to another user"):
        make_own(tmp_path)
    assert mode(tmp_path) == 0o755


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_and_a_used_up_quota_call_for_room(code):
    assert disk_hint(OSError(code, ""), "check its mode") == "make room on that disk"
    assert disk_hint(OSError(errno.EACCES, ""), "check its mode") == "check its mode"


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("a.txt", "a.txt"),
        ("Ärger 1.tar.gz", "Ärger 1.tar.gz"),
        ("cafe\u0301", "caf\u00e9"),
        ("../../a", "a"),
        ("/etc/passwd", "passwd"),
        ("C:\\x\\a.txt", "a.txt"),
        ("", ""),
        (".", ""),
        ("..", ""),
        ("a/", ""),
        ("   ", ""),
        ("a\0b", "a_b"),
        ("\x1b[2J\r\n", "_[2J__"),
        ("\u202egpj.exe", "_gpj.exe"),
        ("\ud800", "_"),
        (".bashrc", "_bashrc"),
        ("-rf", "_rf"),
        ("a. .", "a"),
        ("a ", "a"),
    ],
)
def test_names_are_made_safe(name, safe):
    assert safe_name(name) == safe


@pytest.mark.parametrize("name", ["x" * 300, "é" * 300, "x" * 300 + ".txt", "é" * 300 + ".txt", "." * 3 + "x" * 300])
def test_long_names_are_cut_but_for_their_suffix(name):
    safe = safe_name(name)
    assert NAME_BYTES - 1 <= len(safe.encode()) <= NAME_BYTES
    assert safe.endswith(".txt") == name.endswith(".txt")
