import io
import os
import tempfile
import unicodedata
import zipfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pie_mlx.errors import LaunchError
from pie_mlx.runtime.file_tree import remove_tree
from pie_mlx.runtime.store import ProgramStore, pack_program
from pie_mlx.runtime.store.archive import Entry, archive_entries
from pie_mlx.runtime.store.entry_names import folded, path_problem
from pie_mlx.runtime.store.packing import pack
from pie_mlx.runtime.store.payload import digest
from tests.runtime.store.programs import MAIN, manifest, write_directory

NAMES = st.text(st.characters(codec="utf-8", exclude_characters="/"), min_size=1, max_size=12).filter(
    lambda name: not path_problem(name)
)
# Many characters may not stand in a name.
WASTEFUL = settings(suppress_health_check=[HealthCheck.filter_too_much])
PATHS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)


def apart(paths):
    """Whether file systems that ignore case can hold these files beside one another."""
    known = [folded(path) for path in paths]
    spelled = {}
    for path in paths:
        parts = path.split("/")
        for end in range(1, len(parts)):
            folder = "/".join(parts[:end])
            if spelled.setdefault(folded(folder), folder) != folder:
                return False
    return len(set(known)) == len(known) and not set(known) & set(spelled)


def kept_apart(files):
    """As many of the files as are apart."""
    kept = {}
    for path, data in files.items():
        if apart([*kept, path]):
            kept[path] = data
    return kept


@pytest.fixture
def folder(tmp_path):
    return write_directory(tmp_path / "demo", manifest())


def paths(source):
    return [entry.path for entry in archive_entries(source.payload)]


@WASTEFUL
@given(st.dictionaries(PATHS, st.binary(max_size=40), max_size=12).map(kept_apart))
def test_what_is_packed_comes_out_as_it_was(files):
    entries = [Entry(path, data) for path, data in files.items()]
    assert list(archive_entries(pack(entries))) == sorted(entries, key=lambda entry: entry.path)


LEFT_OUT = ("dist", "tests", "Pie.toml", "main.py")


def belongs(path):
    parts = path.split("/")
    hidden = any(part.startswith(".") or part == "__pycache__" or part.endswith(".pyc") for part in parts)
    return not hidden and folded(parts[0]) not in map(folded, LEFT_OUT)


@settings(WASTEFUL, max_examples=20)
@given(st.dictionaries(PATHS.filter(belongs), st.binary(max_size=40), max_size=8).map(kept_apart))
def test_a_tree_that_is_built_and_installed_is_the_same_tree(files):
    with tempfile.TemporaryDirectory() as temporary:
        folder = write_directory(Path(temporary) / "demo", manifest())
        for path, data in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(data)
        store = ProgramStore(Path(temporary) / "home")
        unpacked = store.install_path(folder).program.directory
        found = {str(p.relative_to(unpacked)): p.read_bytes() for p in unpacked.rglob("*") if p.is_file()}
        remove_tree(unpacked)
    named = {unicodedata.normalize("NFC", path): data for path, data in files.items()}
    assert found == {**named, "main.py": MAIN, "Pie.toml": manifest().encode()}


@WASTEFUL
@given(st.dictionaries(PATHS, st.binary(max_size=40), max_size=8).map(kept_apart), st.randoms())
def test_the_order_of_the_files_makes_no_difference(files, random):
    entries = [Entry(path, data) for path, data in files.items()]
    shuffled = list(entries)
    random.shuffle(shuffled)
    assert pack(entries) == pack(shuffled)


def test_the_same_tree_gives_these_very_bytes(folder):
    assert digest(pack_program(folder).payload) == "98ec70702c1911343d52282a45e2d5e59ad30a01db840ceb2b4fc7136cb7dea4"


def test_entries_are_sorted_stored_and_without_a_date(folder):
    (folder / "data").mkdir()
    (folder / "data" / "ä.txt").write_text("x" * 100)
    (folder / "a.py").write_text("")
    os.utime(folder / "a.py", (0, 0))
    (folder / "a.py").chmod(0o777)
    members = zipfile.ZipFile(io.BytesIO(pack_program(folder).payload)).infolist()
    assert [member.filename for member in members] == ["Pie.toml", "a.py", "data/ä.txt", "main.py"]
    assert {(m.compress_type, m.date_time, m.external_attr >> 16) for m in members} == {
        (zipfile.ZIP_STORED, (1980, 1, 1, 0, 0, 0), 0o100644)
    }


def test_what_does_not_belong_to_a_program_is_left_out(folder):
    for name in (".git/config", "dist/x.pie", "tests/test_x.py", "a/__pycache__/x.pyc", "a/tests/kept", "a/.hidden"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("")
    (folder / "x.pyc").write_text("")
    assert paths(pack_program(folder)) == ["Pie.toml", "a/tests/kept", "main.py"]


def test_a_manifest_may_leave_more_out(folder):
    (folder / "Pie.toml").write_text(manifest() + 'exclude = ["*.md", "notes", "data/*.bin"]\n')
    for name in ("README.md", "docs/a.md", "notes/x", "data/y.bin", "data/z.txt"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("")
    assert paths(pack_program(folder)) == ["Pie.toml", "data/z.txt", "main.py"]


def test_a_directory_without_a_manifest_gets_one(folder):
    (folder / "Pie.toml").unlink()
    source = pack_program(folder)
    assert source.manifest_text == '[package]\nname = "demo"\nversion = "0.0.0"\n'
    assert Entry("Pie.toml", source.manifest_text.encode()) in list(archive_entries(source.payload))


def test_the_manifest_keeps_its_line_ends(folder):
    (folder / "Pie.toml").write_bytes(manifest().replace("\n", "\r\n").encode())
    assert "\r\n" in pack_program(folder).manifest_text


@pytest.mark.parametrize("target", ["main.py", "/etc", "nowhere"])
def test_a_symbolic_link_is_refused(folder, target):
    (folder / "link").symlink_to(target)
    with pytest.raises(LaunchError, match="entry 'link': a symbolic link"):
        pack_program(folder)


def test_what_is_no_file_is_refused(folder):
    os.mkfifo(folder / "pipe")
    with pytest.raises(LaunchError, match="entry 'pipe': neither a file nor a directory"):
        pack_program(folder)


def test_a_name_a_package_cannot_hold_is_refused(folder):
    (folder / "a\\b").write_text("")
    with pytest.raises(LaunchError, match="a backslash"):
        pack_program(folder)


def test_a_directory_without_main_is_refused(folder):
    (folder / "main.py").unlink()
    with pytest.raises(LaunchError, match=r"no main\.py"):
        pack_program(folder)


def test_a_file_is_uploaded_as_it_is(tmp_path):
    (tmp_path / "x.py").write_bytes(MAIN)
    assert pack_program(tmp_path / "x.py").payload == MAIN


def test_a_package_without_a_manifest_is_refused(tmp_path):
    (tmp_path / "x.pie").write_bytes(pack([Entry("main.py", MAIN)]))
    with pytest.raises(LaunchError, match=r"x\.pie: no Pie\.toml"):
        pack_program(tmp_path / "x.pie")
