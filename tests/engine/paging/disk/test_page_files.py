"""Pages on disk: nothing but what was stored is ever read."""

import fcntl
import os
import shutil
import stat
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors import safe_open

from pie_mlx.engine.paging.disk import batch_file, page_files
from pie_mlx.engine.paging.disk.batch_file import Owner, Record, Wanted, encoded, read_header
from pie_mlx.engine.paging.disk.directory import CacheDirectory, FullError
from pie_mlx.engine.paging.disk.page_files import PageFiles
from tests.full_disk import fill, names, small_disk

__all__ = ["small_disk"]

MODEL = "0" * 32


class Clock:
    """Seconds that a test sets."""

    def __init__(self, now: float = 1e9) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


def key(number: int) -> bytes:
    return number.to_bytes(16, "big")


def record(number: int, size: int = 100) -> Record:
    return Record(key(number), b"tokens of %d" % number, (b"%d " % number) * size)


def open_files(
    root: Path, *, identity: str = MODEL, max_bytes: int = 1 << 20, shared: bool = False, clock: Clock | None = None
) -> PageFiles:
    directory = CacheDirectory(root, max_bytes=max_bytes, day_bytes=1 << 40, clock=clock or time.time)
    directory.open()
    files = PageFiles(directory, "a model", identity, shared=shared, clock=clock or time.monotonic)
    files.look()
    return files


def found(files: PageFiles, numbers: range | list[int], user: str = "ann") -> list[int]:
    """The records that are read, each of which must be what was stored."""
    read = {number: files.read(user, key(number), record(number).tokens) for number in numbers}
    stored = {number: [record(number, size).content for size in (20, 100)] for number in numbers}
    assert all(content is None or bytes(content) in stored[number] for number, content in read.items())
    return [number for number, content in read.items() if content is not None]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "kv"


@pytest.fixture
def files(root: Path) -> PageFiles:
    return open_files(root)


def test_what_was_stored_is_found_here_and_by_the_next_engine(root: Path, files: PageFiles) -> None:
    files.write("ann", [record(number) for number in range(5)])
    assert found(files, range(6)) == found(open_files(root), range(6)) == [0, 1, 2, 3, 4]


def test_another_user_finds_nothing_unless_users_share(root: Path, files: PageFiles) -> None:
    files.write("ann", [record(1)])
    assert not files.holds("bob", key(1))
    assert found(open_files(root), [1], user="bob") == []
    assert found(open_files(root, shared=True), [1], user="bob") == [1]


def test_another_model_finds_nothing(root: Path, files: PageFiles) -> None:
    files.write("ann", [record(1)])
    other = open_files(root, identity="1" * 32)
    assert found(other, [1]) == []
    (file,) = (root / MODEL).glob("*.safetensors")
    (root / ("1" * 32)).mkdir(mode=0o700)
    file.rename(root / ("1" * 32) / file.name)
    assert found(open_files(root, identity="1" * 32), [1]) == []


def test_equal_keys_of_other_tokens_are_no_hit(files: PageFiles) -> None:
    files.write("ann", [record(1)])
    assert files.read("ann", key(1), b"other tokens") is None


def test_files_are_safetensors_and_closed_to_others(root: Path, files: PageFiles) -> None:
    files.write("ann", [record(1), record(2)])
    (file,) = (root / MODEL).glob("*")
    with safe_open(file, "numpy") as tensors:
        assert set(tensors.keys()) == {key(1).hex(), key(2).hex()}
        assert tensors.get_tensor(key(2).hex()).tobytes().endswith(record(2).content)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert {stat.S_IMODE(place.stat().st_mode) for place in (root, file.parent)} == {0o700}


def test_a_directory_that_others_may_enter_is_refused(root: Path) -> None:
    root.mkdir(mode=0o755)
    with pytest.raises(PermissionError, match="chmod 700"):
        open_files(root)


def test_a_file_takes_two_percent_more_than_its_pages_at_most(root: Path, files: PageFiles) -> None:
    size = files.write("ann", [Record(key(number), bytes(160), bytes(64 << 10)) for number in range(8)])
    assert size <= 1.02 * 8 * (64 << 10)


def read_run(files: PageFiles, numbers: list[int]) -> int:
    """How many leading records are read at once; each must be what was stored."""
    rows = [bytearray(len(record(number).content)) for number in numbers]
    names = [(key(number), record(number).tokens) for number in numbers]
    count = files.read_run("ann", names, [memoryview(row) for row in rows])
    assert [bytes(row) for row in rows[:count]] == [record(number).content for number in numbers[:count]]
    return count


def test_a_file_is_opened_once_for_what_lies_side_by_side_in_it(
    files: PageFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    for batch in ([1, 2, 3, 4], [5, 6], [8, 7]):
        files.write("ann", [record(number) for number in batch])
    runs: list[int] = []
    read = page_files.read_records

    def counted(path: Path, owner: Owner, wanted: Sequence[Wanted], into: Sequence[memoryview]) -> int:
        runs.append(len(wanted))
        return read(path, owner, wanted, into)

    monkeypatch.setattr(page_files, "read_records", counted)
    assert read_run(files, [1, 2, 3, 4, 5, 6, 7, 8]) == 8
    assert runs == [4, 2, 1, 1]


def test_a_read_that_is_interrupted_goes_on(files: PageFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    files.write("ann", [record(number) for number in range(1, 5)])
    monkeypatch.setattr(batch_file, "PIECE_BYTES", 50)
    readv = os.readv
    monkeypatch.setattr(os, "readv", lambda descriptor, parts: readv(descriptor, [parts[0][:7]]))
    assert read_run(files, [1, 2, 3, 4]) == 4


def test_a_run_ends_before_the_first_record_that_is_not_what_was_stored(root: Path, files: PageFiles) -> None:
    files.write("ann", [record(number) for number in range(1, 5)])
    (file,) = (root / MODEL).glob("*")
    whole = file.read_bytes()
    content = bytes(record(3).content)
    file.write_bytes(whole.replace(content, content[:-1] + b"!"))
    assert read_run(files, [1, 2, 3, 4]) == 2
    assert not files.holds("ann", key(3))
    os.truncate(file, whole.index(bytes(record(2).content)) + 5)
    assert read_run(files, [1, 2]) == 1


# Damage.


def damaged(root: Path, change: Callable[[bytes], bytes]) -> list[int]:
    """What is found once the only file was changed."""
    (file,) = (root / MODEL).glob("*")
    before = file.read_bytes()
    file.write_bytes(change(before))
    after = found(open_files(root), range(4))
    file.write_bytes(before)
    return after


def test_a_flipped_bit_anywhere_is_a_miss(root: Path, files: PageFiles) -> None:
    files.write("ann", [record(number, size=20) for number in range(4)])
    (file,) = (root / MODEL).glob("*")
    size = file.stat().st_size
    payloads = size - sum(one.size_bytes for one in [record(number, size=20) for number in range(4)])
    for place in [*range(0, size, 7), size - 1]:
        read = damaged(root, lambda whole, at=place: _flipped(whole, at))
        assert place < payloads or len(read) == 3
    assert damaged(root, lambda whole: whole) == [0, 1, 2, 3]


def _flipped(whole: bytes, at: int) -> bytes:
    return whole[:at] + bytes([whole[at] ^ 1 << at % 8]) + whole[at + 1 :]


def test_a_file_that_was_cut_anywhere_gives_what_is_whole(root: Path, files: PageFiles) -> None:
    files.write("ann", [record(number, size=20) for number in range(4)])
    (file,) = (root / MODEL).glob("*")
    size = file.stat().st_size
    assert all(damaged(root, lambda whole, at=place: whole[:at]) != [0, 1, 2, 3] for place in range(0, size, 13))


def test_a_power_cut_that_leaves_zeros_at_the_end_of_a_file_gives_what_is_whole(root: Path, files: PageFiles) -> None:
    files.write("ann", [record(number, size=20) for number in range(4)])
    (file,) = (root / MODEL).glob("*")
    size = file.stat().st_size
    assert all(
        damaged(root, lambda whole, at=place: whole[:at] + bytes(size - at)) != [0, 1, 2, 3]
        for place in range(0, size, 29)
    )


@pytest.mark.parametrize("left", [b"", b"{", bytes(60)])
def test_a_power_cut_in_the_count_of_writes_is_a_day_that_begins(root: Path, files: PageFiles, left: bytes) -> None:
    files.write("ann", [record(1)])
    (root / "writes.json").write_bytes(left)
    again = open_files(root)
    assert again.directory.writes().written_bytes == 0
    assert again.write("ann", [record(2)]) == again.directory.writes().written_bytes
    assert found(again, [1, 2]) == [1, 2]


@settings(max_examples=100)
@given(st.binary(max_size=200), st.integers(0, 300))
def test_any_bytes_in_a_header_are_no_page(tmp_path_factory: pytest.TempPathFactory, junk: bytes, at: int) -> None:
    path = tmp_path_factory.getbasetemp() / "junk.safetensors"
    whole = b"".join(encoded(Owner("m", MODEL, "ann"), [record(1)]))
    path.write_bytes(whole[:at] + junk + whole[at + len(junk) :])
    header = read_header(path)
    assert header is None or all(place.offset >= 0 for place in header.records.values())


def test_a_store_of_a_newer_version_is_left_alone_but_bounded(root: Path, files: PageFiles) -> None:
    files.write("ann", [record(1)])
    (file,) = (root / MODEL).glob("*")
    file.write_bytes(file.read_bytes().replace(b"pie-kv-2", b"pie-kv-9"))
    assert found(open_files(root), [1]) == []
    assert [one.path for one in files.directory.files()] == [file]
    tight = open_files(root, max_bytes=file.stat().st_size + 10)
    tight.write("ann", [record(2)])
    assert not file.exists()


def test_a_file_deleted_while_in_use_is_a_miss(root: Path, files: PageFiles) -> None:
    files.write("ann", [record(1), record(2)])
    for file in (root / MODEL).glob("*"):
        file.unlink()
    assert found(files, [1, 2]) == []
    assert not files.holds("ann", key(2))


def test_a_store_deleted_while_in_use_can_be_written_again(root: Path, files: PageFiles) -> None:
    files.write("ann", [record(1)])
    files.directory.clear()
    files.write("ann", [record(2)])
    assert found(files, [1, 2]) == [2]


def test_a_store_removed_with_its_directory_can_be_written_again(root: Path, files: PageFiles) -> None:
    files.write("ann", [record(1)])
    shutil.rmtree(root)
    files.write("ann", [record(2)])
    assert found(files, [1, 2]) == [2]
    assert stat.S_IMODE(root.stat().st_mode) == 0o700


# Several engines.


def test_a_miss_finds_what_another_engine_has_written_since_once_a_second(root: Path) -> None:
    clock = Clock()
    one, other = open_files(root, clock=clock), open_files(root)
    other.write("bob", [record(1)])
    one.look()
    assert not one.holds("bob", key(1))
    clock.now += 1
    one.look()
    assert found(one, [1], user="bob") == [1]


def test_files_that_another_engine_removed_are_forgotten(root: Path) -> None:
    clock = Clock()
    other = open_files(root)
    other.write("ann", [record(1)])
    one = open_files(root, clock=clock)
    other.directory.clear()
    clock.now += 1
    one.look()
    assert not one.holds("ann", key(1))


def test_a_file_that_is_being_written_stays_and_one_of_a_killed_writer_goes(root: Path, files: PageFiles) -> None:
    files.write("ann", [record(1)])
    alive, dead = root / MODEL / ".alive.tmp", root / MODEL / ".dead.tmp"
    dead.touch()
    with alive.open("wb") as writing:
        fcntl.flock(writing, fcntl.LOCK_EX)
        open_files(root)
        assert (alive.exists(), dead.exists()) == (True, False)


def test_the_half_of_a_small_file_goes_once_nobody_can_be_writing_it(root: Path, files: PageFiles) -> None:
    half = root / ".0123456789abcdef.new"
    half.touch()
    open_files(root)
    assert half.exists()
    os.utime(half, (1, 1))
    open_files(root)
    assert not half.exists()


def test_a_page_that_was_written_again_stays_when_the_first_file_goes(root: Path) -> None:
    clock = Clock()
    files = open_files(root, clock=clock)
    for _ in range(2):
        files.write("ann", [record(1), record(2)])
    min((root / MODEL).glob("*.safetensors")).unlink()
    clock.now += 1
    files.look()
    assert found(files, [1, 2]) == [1, 2]


# Room.


def test_the_bound_holds_over_all_models_and_the_least_recently_used_files_go(root: Path) -> None:
    clock = Clock()
    one, other = open_files(root, clock=clock), open_files(root, identity="1" * 32, clock=clock)
    size = one.write("ann", [record(1)])
    clock.now += 100
    other.write("ann", [record(1)])
    clock.now += 100
    one.use("ann", [key(1)])
    tight = open_files(root, max_bytes=2 * size + size // 2, clock=clock)
    tight.write("ann", [record(2)])
    assert found(open_files(root), [1, 2]) == [1, 2]
    assert found(open_files(root, identity="1" * 32), [1]) == []


def test_a_batch_that_can_never_fit_is_refused_and_nothing_goes_for_it(root: Path) -> None:
    tight = open_files(root, max_bytes=2000)
    tight.write("ann", [record(1)])
    with pytest.raises(FullError):
        tight.write("ann", [record(2, size=2000)])
    assert found(tight, [1]) == [1]


def test_a_full_disk_refuses_and_leaves_no_half_of_a_file(small_disk: Path) -> None:
    files = open_files(small_disk)
    files.write("ann", [record(1)])
    fill(small_disk)
    before = names(small_disk)
    with pytest.raises(OSError, match=r"tenth|space"):
        files.write("ann", [record(2)])
    assert names(small_disk) == before
    assert found(files, [1, 2]) == [1]


def test_a_write_that_fails_half_way_leaves_nothing(
    root: Path, files: PageFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(descriptor: int, data: object) -> int:
        raise OSError(28, "no space left")

    monkeypatch.setattr(os, "write", refuse)
    with pytest.raises(OSError, match="no space"):
        files.write("ann", [record(1)])
    assert list(root.glob("*/*")) == []


def test_a_clock_that_was_ahead_keeps_no_file_for_ever(root: Path) -> None:
    clock = Clock(2e9)
    ahead = open_files(root, clock=clock)
    size = ahead.write("ann", [record(1)])
    ahead.use("ann", [key(1)])
    clock.now = 1e9
    for number in range(2, 6):
        clock.now += 1000
        open_files(root, max_bytes=2 * size + size // 2, clock=clock).write("ann", [record(number)])
    assert sum(file.size_bytes for file in ahead.directory.files()) <= 3 * size


def test_a_use_is_noted_once_a_minute(root: Path) -> None:
    clock = Clock()
    files = open_files(root, clock=clock)
    files.write("ann", [record(1)])
    noted: list[float] = []
    for _ in range(4):
        clock.now += 20
        files.use("ann", [key(1)])
        noted.append(files.directory.files()[0].used_seconds)
    assert len(set(noted)) == 2


# Many.


def test_a_hundred_thousand_pages_are_indexed(root: Path, files: PageFiles) -> None:
    for batch in range(0, 100_000, 2500):
        header = _table(range(batch, batch + 2500))
        (root / MODEL).mkdir(mode=0o700, exist_ok=True)
        (root / MODEL / f"{batch:020d}.safetensors").write_bytes(header)
    again = open_files(root)
    assert all(again.holds("ann", key(number)) for number in (0, 2499, 2500, 99_999))


def _table(numbers: range) -> bytes:
    return b"".join(encoded(Owner("m", MODEL, "ann"), [Record(key(number), b"", b"") for number in numbers]))


@st.composite
def histories(draw: st.DrawFn) -> list[tuple[str, int]]:
    steps = st.tuples(st.sampled_from(["write", "read", "flip", "cut", "delete", "again", "tick"]), st.integers(0, 9))
    return draw(st.lists(steps, max_size=30))


@settings(max_examples=60)
@given(histories())
def test_whatever_happens_only_what_was_stored_is_read(
    tmp_path_factory: pytest.TempPathFactory, history: list[tuple[str, int]]
) -> None:
    root, clock = tmp_path_factory.mktemp("kv", numbered=True), Clock()
    files = open_files(root, max_bytes=8000, clock=clock)
    for verb, number in history:
        there = sorted(root.glob("*/*.safetensors"))
        chosen = there[number % len(there)] if there else None
        match verb:
            case "write":
                files.write("ann", [record(number), record(number + 1)])
            case "read":
                found(files, [number])
            case "flip" if chosen is not None and chosen.stat().st_size:
                whole = bytearray(chosen.read_bytes())
                whole[len(whole) * number // 10] ^= 1 << number % 8
                chosen.write_bytes(whole)
            case "cut" if chosen is not None:
                os.truncate(chosen, chosen.stat().st_size * number // 10)
            case "delete" if chosen is not None:
                chosen.unlink()
            case "again":
                files = open_files(root, max_bytes=8000, clock=clock)
            case _:
                clock.now += number - 4
                files.look()
    found(files, range(11))
    assert sum(file.size_bytes for file in files.directory.files()) <= 8000
    assert not list(root.glob("*/.*"))


def test_the_description_of_a_file_says_whose_it_is(files: PageFiles) -> None:
    files.write("ann", [record(1)])
    ((file, header),) = files.directory.described()
    assert header is not None
    assert (header.owner, list(header.records)) == (Owner("a model", MODEL, "ann"), [key(1)])
    assert file.size_bytes == file.path.stat().st_size
