"""Components see the files of their directory, and no others."""

import pytest

from pie_mlx.wasm.binding.writers import WitError
from pie_mlx.wasm.wasi.filesystem import Descriptor, filesystem_error_code, get_directories
from pie_mlx.wasm.wasi.poll import Error

FOLLOW, NONE = frozenset({"symlink-follow"}), frozenset()
READ, BOTH = frozenset({"read"}), frozenset({"read", "write"})


@pytest.fixture
def scratch(tmp_path, monkeypatch):
    (tmp_path / "own").mkdir()
    (tmp_path / "secret").write_text("secret")
    monkeypatch.chdir(tmp_path / "own")
    ((found, name),) = get_directories()
    assert name == "/scratch"
    return found


def code(act):
    with pytest.raises(WitError) as raised:
        act()
    return raised.value.value


def new(scratch, name, content=b""):
    made = scratch.open_at(FOLLOW, name, frozenset({"create"}), BOTH)
    assert made.write(content, 0) == len(content)
    return made


def test_what_is_written_is_read(scratch):
    file = new(scratch, "a.txt", b"hello")
    assert file.read(3, 1) == (b"ell", False)
    assert file.read(9, 1) == (b"ello", True)
    file.append_via_stream().blocking_write_and_flush(b" world")
    file.write_via_stream(0).write(b"J")
    stream = file.read_via_stream(0)
    assert stream.blocking_read(100) == b"Jello world"
    assert code(lambda: stream.read(1)) == "closed"
    file.set_size(2)
    file.sync_data()
    assert (file.get_type(), file.stat()[2], file.get_flags()) == ("regular-file", 2, BOTH)


def test_a_stream_outlives_its_descriptor(scratch):
    stream = new(scratch, "a", b"kept").read_via_stream(0)
    assert stream.read(9) == b"kept"


def test_directories_are_made_listed_and_removed(scratch):
    scratch.create_directory_at("sub")
    inside = scratch.open_at(FOLLOW, "sub", frozenset({"directory"}), READ)
    new(inside, "b", b"1")
    scratch.rename_at("sub/b", inside, "c")
    scratch.link_at(NONE, "sub/c", scratch, "d")
    entries, found = scratch.read_directory(), []
    while (entry := entries.read_directory_entry()) is not None:
        found.append(entry)
    assert found == [("regular-file", "d"), ("directory", "sub")]
    assert code(lambda: scratch.remove_directory_at("sub")) == "not-empty"
    inside.unlink_file_at("c")
    scratch.remove_directory_at("sub")
    assert code(lambda: scratch.stat_at(NONE, "sub")) == "no-entry"


@pytest.mark.parametrize("path", ["../secret", "/etc/passwd", "link/../../secret", "../own2", "a\0b"])
def test_no_path_leads_out(scratch, path):
    assert code(lambda: scratch.open_at(FOLLOW, path, NONE, READ)) == "not-permitted"
    assert code(lambda: scratch.unlink_file_at(path)) == "not-permitted"


def test_no_directory_behind_a_link_is_entered(scratch, tmp_path):
    (tmp_path / "own" / "out").symlink_to(tmp_path)
    assert code(lambda: scratch.open_at(FOLLOW, "out/secret", NONE, READ)) == "not-permitted"
    assert code(lambda: scratch.symlink_at("/etc/passwd", "x")) == "not-permitted"
    scratch.symlink_at("a", "y")
    assert scratch.readlink_at("y") == "a"
    assert scratch.stat_at(NONE, "y")[0] == "symbolic-link"


def test_times_and_identities_are_told(scratch):
    file = new(scratch, "a")
    scratch.set_times_at(FOLLOW, "a", ("timestamp", (1, 5)), ("no-change", None))
    assert file.stat()[3] == (1, 5)
    file.set_times(("now", None), ("now", None))
    assert file.metadata_hash() == scratch.metadata_hash_at(FOLLOW, "a")
    assert file.is_same_object(scratch.open_at(FOLLOW, "a", NONE, READ))
    file.advise(0, 1, "normal")


def test_errors_are_those_of_the_system(scratch):
    assert code(lambda: scratch.open_at(FOLLOW, "none", NONE, READ)) == "no-entry"
    assert code(lambda: scratch.open_at(FOLLOW, "none", frozenset({"directory"}), READ)) == "no-entry"
    assert code(lambda: scratch.read(1, 0)) == "is-directory"
    new(scratch, "a")
    assert code(lambda: scratch.open_at(FOLLOW, "a", frozenset({"create", "exclusive"}), BOTH)) == "exist"
    assert code(lambda: scratch.open_at(FOLLOW, "a", NONE, READ).write(b"x", 0)) == "bad-descriptor"
    assert filesystem_error_code(Error("x", 28)) == "insufficient-space"
    assert filesystem_error_code(Error("x")) is None
    assert isinstance(scratch, Descriptor)
