import stat
import struct
import zipfile

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pie_mlx.errors import LaunchError
from pie_mlx.runtime.store import archive as rules
from pie_mlx.runtime.store.archive import Entry, archive_entries
from pie_mlx.runtime.store.entry_names import EntryNames, folded, path_problem
from tests.runtime.store.programs import archive, manifest, package


def refusal(payload):
    """Why a package is refused."""
    with pytest.raises(LaunchError) as error:
        list(archive_entries(payload))
    return error.value.message


def named(name, *, mode=stat.S_IFREG | 0o644):
    member = zipfile.ZipInfo("placeholder")
    member.filename = name  # past the constructor, which cuts it at a NUL
    member.external_attr = mode << 16
    return member


def test_the_files_of_a_package_come_with_their_bytes():
    payload = archive(("a/", b""), ("a/b.txt", b"1"), ("c", b""), compression=zipfile.ZIP_DEFLATED)
    assert list(archive_entries(payload)) == [Entry("a/b.txt", b"1"), Entry("c", b"")]


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("/etc/passwd", "an absolute path"),
        ("../x", "'..' leaves the package"),
        ("a/../../x", "'..' leaves the package"),
        ("a/..", "'..' leaves the package"),
        ("a\\b", "a backslash"),
        ("a\nb", "a control character"),
        ("a\x7fb", "a control character"),
        ("a//b", "an empty name"),
        ("./a", "an empty name"),
        ("a/.", "an empty name"),
        ("x" * 256, "a name longer than 255 bytes"),
        ("é" * 128, "a name longer than 255 bytes"),
        ("/".join(["x" * 99] * 11), "longer than 1024 bytes"),
    ],
)
def test_a_path_that_could_lead_elsewhere_is_refused(name, why):
    assert path_problem(name) == why
    assert why in refusal(archive((named(name), b"")))


def test_the_error_names_the_entry():
    assert refusal(archive(("fine", b""), ("../x", b""))) == "package: entry '../x': '..' leaves the package"


def test_a_name_that_hides_behind_a_nul_is_refused():
    payload = archive(("harmlessX", b"")).replace(b"harmlessX", b"harmless\0")
    assert refusal(payload) == "package: entry 'harmless\\x00': a control character"


@pytest.mark.parametrize(
    ("mode", "why"),
    [
        (stat.S_IFLNK, "a symbolic link"),
        (stat.S_IFCHR, "neither a file nor a directory"),
        (stat.S_IFIFO, "neither a file nor a directory"),
        (stat.S_IFSOCK, "neither a file nor a directory"),
        (stat.S_IFDIR, "a directory by its mode alone"),
    ],
)
def test_only_files_and_directories_are_taken(mode, why):
    assert refusal(archive((named("x", mode=mode | 0o777), b"/etc"))) == f"package: entry 'x': {why}"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("a", "a"),
        ("a", "A"),
        ("é", "e\u0301"),
        ("É", "e\u0301"),
        ("straße", "STRASSE"),
        ("a/b", "A/c"),
        ("a", "a/b"),
        ("a/b", "a"),
        ("a/b", "A"),
        ("x/a/b", "X/a/c"),
    ],
)
def test_paths_that_only_some_file_systems_tell_apart_are_refused(first, second):
    names = EntryNames()
    names.check_and_add(first, folder=False)
    with pytest.raises(LaunchError, match="entry"):
        names.check_and_add(second, folder=False)


def test_the_same_directory_may_be_named_again():
    assert len(list(archive_entries(archive(("a/", b""), ("a/b", b""), ("a/c", b""))))) == 2


def test_an_encrypted_entry_is_refused():
    payload = bytearray(archive(("x", b"1")))
    place = payload.index(b"PK\1\2")
    payload[place + 8] |= 1
    assert refusal(bytes(payload)) == "package: entry 'x': encrypted"


def test_other_compressions_are_refused():
    assert "compressed by method 12" in refusal(archive(("x", b"1" * 99), compression=zipfile.ZIP_BZIP2))


def test_sizes_are_counted_and_not_believed(monkeypatch):
    monkeypatch.setattr(rules, "UNPACKED_LIMIT_BYTES", 1000)
    payload = bytearray(archive(("x", bytes(2000)), ("y", bytes(10))))
    place = payload.index(b"PK\1\2")
    struct.pack_into("<L", payload, place + 24, 5)
    assert "entry 'x'" in refusal(bytes(payload))


def test_a_package_may_not_grow_without_measure():
    payload = archive(("bomb", bytes(3_000_000)), compression=zipfile.ZIP_DEFLATED)
    assert len(payload) * 100 < 3_000_000
    assert "entry 'bomb': unpacked, the package is more than 512 MiB or 100 times its size" in refusal(payload)


def test_a_package_is_limited_as_a_whole(monkeypatch):
    monkeypatch.setattr(rules, "UNPACKED_LIMIT_BYTES", 1000)
    assert "entry 'b'" in refusal(archive(("a", bytes(600)), ("b", bytes(600))))


def test_the_number_of_entries_is_limited(monkeypatch):
    monkeypatch.setattr(rules, "ENTRY_LIMIT", 3)
    assert len(list(archive_entries(archive(*((str(i), b"") for i in range(3)))))) == 3
    assert refusal(archive(*((str(i), b"") for i in range(4)))) == "package: more than 3 entries"


def test_a_count_that_lies_does_not_help(monkeypatch):
    monkeypatch.setattr(rules, "ENTRY_LIMIT", 3)
    payload = bytearray(archive(*((str(i), b"") for i in range(9))))
    struct.pack_into("<2H", payload, len(payload) - 14, 1, 1)
    assert refusal(bytes(payload)) == "package: more than 3 entries"


def test_a_huge_directory_is_refused_before_it_is_read(monkeypatch):
    payload = package(("x" * 200, b""))
    monkeypatch.setattr(rules, "DIRECTORY_LIMIT_BYTES", 100)
    monkeypatch.setattr(zipfile, "ZipFile", None)
    assert "entries" in refusal(payload)


@given(st.data())
def test_a_damaged_package_is_refused_or_read(data):
    payload = bytearray(package(("a/b.txt", b"hello" * 20)))
    for _ in range(data.draw(st.integers(1, 4))):
        payload[data.draw(st.integers(0, len(payload) - 1))] = data.draw(st.integers(0, 255))
    try:
        found = list(archive_entries(bytes(payload[: data.draw(st.integers(0, len(payload)))])))
    except LaunchError:
        return
    assert [entry.path for entry in found if path_problem(entry.path)] == []


HOSTILE = st.sampled_from(["..", ".", "", "a", "A", "é", "e\u0301", "b\\c", "d\x00e", "f\n", "y" * 256, "main.py"])


@given(st.lists(st.lists(HOSTILE, min_size=1, max_size=4).map("/".join), min_size=1, max_size=6))
@example(["a/..", "a"])
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_whatever_is_let_through_stays_inside_and_apart(names):
    payload = archive(*((named(name), b"") for name in names))
    try:
        found = [entry.path for entry in archive_entries(payload)]
    except LaunchError:
        return
    assert [path for path in found if path.startswith("/") or set(path.split("/")) & {"", ".", ".."}] == []
    assert len({folded(path) for path in found}) == len(found)


def test_a_text_that_is_no_package_is_refused():
    assert refusal(b"PK\3\4" + manifest().encode()) == "package: not a zip archive: it has no end"


def test_a_second_directory_whose_numbers_replace_the_first_is_refused(monkeypatch):
    payload = package(("a", b""))
    end = payload.rfind(b"PK\5\6")
    locator = struct.pack("<4sLQL", b"PK\6\7", 0, 0, 1)
    monkeypatch.setattr(zipfile, "ZipFile", None)
    assert "ZIP64 is not supported" in refusal(payload[:end] + locator + payload[end:])
