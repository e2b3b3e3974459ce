"""Recordings on disk: they survive a cut, and files of strangers are bounded."""

import stat
import struct
import zlib

import msgspec
import pytest

from pie_mlx.calls import Encode
from pie_mlx.errors import InvalidArgumentError
from pie_mlx.runtime.recording import file
from pie_mlx.runtime.recording.entries import Begun, Called, Launched, Replied
from pie_mlx.runtime.recording.file import RecordingWriter, read_recording

ENTRIES = (
    Begun(1, 2, "pie-tiny"),
    Launched(0, 3, "a@0.0.0", "/a.py", "{}"),
    Called(0, 0, 4, Encode("pie-tiny", "hello")),
    Replied(0, 0, 5, msgspec.Raw(b"\x92\x01\x02")),
)


@pytest.fixture
def path(tmp_path):
    writer = RecordingWriter(tmp_path / "run.pie")
    for entry in ENTRIES:
        writer.write(entry)
    writer.close()
    return tmp_path / "run.pie"


def frame(payload):
    return struct.pack("<II", len(payload), zlib.crc32(payload)) + payload


def test_what_is_written_is_read_and_only_its_owner_can(path):
    read = read_recording(path)
    assert (read.begun, read.torn) == (ENTRIES[0], False)
    assert [type(entry) for entry in read.entries] == [Launched, Called, Replied]
    assert read.entries[1].message == Encode("pie-tiny", "hello")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_file_that_others_could_read_is_closed_to_them(path):
    path.chmod(0o644)
    RecordingWriter(path).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_wherever_a_file_is_cut_its_whole_frames_are_read(path):
    data = path.read_bytes()
    whole = [len(data)]
    for entry in reversed(ENTRIES[1:]):
        whole.append(whole[-1] - 8 - len(msgspec.msgpack.encode(entry)))
    for end in range(whole[-1], len(data)):
        path.write_bytes(data[:end])
        read = read_recording(path)
        assert len(read.entries) == sum(place <= end for place in whole) - 1
        assert read.torn == (end not in whole)


def test_a_frame_whose_checksum_is_wrong_ends_the_recording(path):
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    read = read_recording(path)
    assert (len(read.entries), read.torn) == (2, True)


def test_a_newer_version_is_refused_in_one_line(path):
    path.write_bytes(b"pie recording 0002\n" + path.read_bytes()[19:])
    with pytest.raises(InvalidArgumentError, match=r"run.pie: a recording of version 2, this pie-mlx reads 1$"):
        read_recording(path)


@pytest.mark.parametrize("data", [b"", b"pie events 0001\n", b"pie recording x\n", b"pie recording 0001\n"])
def test_any_other_file_is_no_recording(path, data):
    path.write_bytes(data)
    with pytest.raises(InvalidArgumentError):
        read_recording(path)


def test_any_other_file_is_not_replaced(tmp_path):
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(InvalidArgumentError, match="it is there already and is no recording"):
        RecordingWriter(tmp_path / "thesis.txt")
    assert (tmp_path / "thesis.txt").read_text() == "years of work"


def test_a_link_is_not_followed(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="symbolic link"):
        RecordingWriter(tmp_path / "link")


@pytest.mark.parametrize(
    "payload",
    [
        b"\xc1",
        msgspec.msgpack.encode(("unknown", 1)),
        msgspec.msgpack.encode(("called", 0, 0, 0, {"call": "no_such_call"})),
        b"\x91" * 5_000,
    ],
)
def test_a_damaged_frame_is_refused(path, payload):
    path.write_bytes(path.read_bytes() + frame(payload))
    with pytest.raises(InvalidArgumentError, match="damaged"):
        read_recording(path)


def test_a_frame_that_claims_too_much_is_refused_unread(path):
    path.write_bytes(path.read_bytes() + struct.pack("<II", (1 << 32) - 1, 0))
    with pytest.raises(InvalidArgumentError, match="a frame of 4294967295 bytes"):
        read_recording(path)


def test_the_values_of_all_frames_are_bounded(path, monkeypatch):
    monkeypatch.setattr(file, "LIMITS", file.Counts(20, 20))
    with pytest.raises(InvalidArgumentError, match="too many values"):
        read_recording(path)


def test_the_size_of_the_file_is_bounded(path, monkeypatch):
    monkeypatch.setattr(file, "FILE_LIMIT_BYTES", 50)
    with pytest.raises(InvalidArgumentError, match="the limit is 50"):
        read_recording(path)
