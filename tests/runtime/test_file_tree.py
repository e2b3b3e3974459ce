"""Trees that programs made: measured and removed whatever is in them."""

import os
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

import pytest

from pie_mlx.runtime import file_tree
from pie_mlx.runtime.file_tree import KEPT_OPEN, Quota, Usage, measure, remove_tree

ROOMY = Quota(1 << 40, 1 << 20)
NOBODY = 65534
BLOCK = bytes(64 << 10)


@pytest.fixture
def place(tmp_path):
    """A directory that another user can reach too."""
    if os.geteuid() != 0:
        yield str(tmp_path)
        return
    with tempfile.TemporaryDirectory() as directory:
        os.chown(directory, NOBODY, NOBODY)
        yield directory


def as_user(code, place):
    """What code prints that runs as somebody whom modes of files stop."""
    script = f"import os, sys; from pie_mlx.runtime.file_tree import *; os.chdir({place!r})\n"
    if os.geteuid() == 0:
        script += f"os.setgroups([]); os.setresgid(*[{NOBODY}] * 3); os.setresuid(*[{NOBODY}] * 3)\n"
    command = [sys.executable, "-c", script + textwrap.dedent(code)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def nest(directory, levels, name="d"):
    """Directories in one another, from deepest to outermost, however long their path."""
    inside = os.open(directory, os.O_RDONLY)
    for _ in range(levels):
        os.mkdir(name, dir_fd=inside)
        deeper = os.open(name, os.O_RDONLY, dir_fd=inside)
        os.close(inside)
        inside = deeper
    return inside


def write(name, directory, data=BLOCK):
    file = os.open(name, os.O_WRONLY | os.O_CREAT, dir_fd=directory)
    os.write(file, data)
    os.close(file)


@pytest.mark.parametrize(("levels", "name"), [(KEPT_OPEN + 3, "d"), (1200, "d"), (40, "n" * 200)])
def test_depth_and_length_of_paths_hide_nothing(tmp_path, levels, name):
    deepest = nest(tmp_path, levels, name)
    write("f", deepest)
    os.close(deepest)
    found = measure(str(tmp_path), ROOMY)
    assert (found.entries, found.hidden) == (levels + 1, False)
    assert found.size_bytes >= len(BLOCK)
    remove_tree(tmp_path)
    assert not tmp_path.exists()


def test_all_of_a_deep_tree_with_many_branches_is_walked(tmp_path):
    deep = tmp_path
    for _ in range(2 * KEPT_OPEN):
        for name in ("a", "b", "c"):
            (deep / name).mkdir()
            (deep / name / "f").touch()
        deep /= "b"
    assert measure(str(tmp_path), ROOMY).entries == 2 * KEPT_OPEN * 6
    remove_tree(tmp_path)
    assert not tmp_path.exists()


def test_a_file_counts_once_whatever_its_names_and_a_hole_counts_nothing(tmp_path):
    (tmp_path / "f").write_bytes(BLOCK)
    (tmp_path / "g").hardlink_to(tmp_path / "f")
    (tmp_path / "link").symlink_to("/")
    before = measure(str(tmp_path), ROOMY)
    with (tmp_path / "hole").open("wb") as file:
        file.truncate(1 << 30)
    after = measure(str(tmp_path), ROOMY)
    assert (before.entries, after.entries) == (2, 3)
    assert after.size_bytes - before.size_bytes < len(BLOCK)


def test_a_look_ends_at_the_limit(tmp_path):
    for number in range(100):
        (tmp_path / str(number)).write_bytes(BLOCK)
    assert measure(str(tmp_path), Quota(1 << 40, 10)).entries == 11
    assert measure(str(tmp_path), Quota(10 * len(BLOCK), 1 << 20)).entries <= 11


def test_a_directory_that_is_gone_holds_nothing(tmp_path):
    assert measure(str(tmp_path / "none"), ROOMY) == Usage()
    remove_tree(tmp_path / "none")


@pytest.mark.parametrize("mode", ["0o000", "0o100", "0o300", "0o400", "0o600"])
def test_a_directory_its_owner_cannot_read_is_hidden_and_removed_all_the_same(place, mode):
    code = f"""
        os.mkdir("t")
        os.makedirs("t/a/b/c")
        open("t/a/b/f", "w").close()
        os.chmod("t/a/b", {mode})
        os.chmod("t/a", 0o500)
        print(measure("t", Quota(1 << 40, 1 << 20)).hidden)
        remove_tree("t")
        print(os.path.lexists("t"))
        """
    assert as_user(code, place).split() == ["True", "False"]


def test_the_way_in_is_opened_as_well(place):
    code = """
        os.makedirs("t/a")
        os.chmod("t", 0)
        remove_tree("t")
        print(os.path.lexists("t"))
        """
    assert as_user(code, place) == "False"


def test_links_are_removed_and_never_followed(place):
    code = """
        os.makedirs("t/a")
        os.makedirs("other/kept")
        os.chmod("other", 0o500)
        os.symlink("../other", "t/link")
        os.symlink("../../other", "t/a/link")
        remove_tree("t")
        print(os.path.lexists("t"), os.listdir("other"), oct(os.stat("other").st_mode & 0o777))
        """
    assert as_user(code, place) == "False ['kept'] 0o500"


def test_what_becomes_a_link_while_it_is_walked_is_not_followed(tmp_path, monkeypatch):
    victim = tmp_path / "victim"
    victim.mkdir()
    (victim / "kept").touch()
    tree = tmp_path / "tree"
    (tree / "a").mkdir(parents=True)
    (tree / "a" / "f").touch()
    entered = os.open

    def exchanged(name, flags, **options):
        if name == "a" and not (tree / "b").exists():
            (tree / "a").rename(tree / "b")
            (tree / "a").symlink_to(victim)
        return entered(name, flags, **options)

    with monkeypatch.context() as patched:
        patched.setattr(os, "open", exchanged)
        patched.setattr(file_tree, "ATTEMPTS", 1)
        remove_tree(tree)
    assert (tree / "a").is_symlink()
    assert (victim / "kept").exists()


def test_a_tree_that_moves_all_the_time_is_hidden(tmp_path, monkeypatch):
    tree, elsewhere, moved = tmp_path / "tree", tmp_path / "elsewhere", []
    elsewhere.mkdir()
    for number in range(file_tree.ATTEMPTS):
        (tree / f"chain{number}").mkdir(parents=True)
        os.close(nest(tree / f"chain{number}", KEPT_OPEN + 5))
    scan = os.scandir

    def moving(descriptor):
        if not os.listdir(descriptor):
            os.rename(f"/dev/fd/{descriptor}/../d", elsewhere / str(len(moved)))
            moved.append(descriptor)
        return scan(descriptor)

    with monkeypatch.context() as patched:
        patched.setattr(os, "scandir", moving)
        assert measure(str(tree), ROOMY).hidden
    assert len(moved) == file_tree.ATTEMPTS


def test_the_walk_leaves_no_descriptor_open(tmp_path):
    os.close(nest(tmp_path, 100))
    before = os.listdir("/dev/fd")
    measure(str(tmp_path), ROOMY)
    measure(str(tmp_path), Quota(1 << 40, 50))
    remove_tree(Path(tmp_path))
    assert os.listdir("/dev/fd") == before
