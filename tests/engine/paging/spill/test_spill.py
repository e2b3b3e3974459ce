"""Pages that fall out of the pool come back from the disk, or are computed again."""

import asyncio
import itertools
import shutil
import stat
import sys
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path

import numpy as np
import pytest

from inferlet import Context
from pie_mlx.engine.paging.page_bytes import HostContent
from pie_mlx.engine.paging.prefill_rate import PrefillRate
from pie_mlx.engine.paging.spill import Spill, SpillCosts, SpillFile, SpillNotice, open_disk, open_spill
from pie_mlx.engine.paging.spill.costs import measure_costs
from pie_mlx.engine.paging.spill.disk import FileDisk
from pie_mlx.events import ContextRestored, PagesSpilled, SpillChanged
from tests.engine.running import Running, finished, in_context, running

pytestmark = pytest.mark.usefixtures("random_model")

FREE = SpillCosts(write_bytes_per_second=1e12, read_bytes_per_second=1e12)
"""A disk that is always faster than the model."""


class Memory:
    """A disk without a file; `broken` makes it refuse."""

    def __init__(self) -> None:
        self.bytes = bytearray()
        self.broken = False
        self.closed = False

    def write_at(self, data: bytes, offset: int) -> None:
        if self.broken:
            raise OSError("no space left")
        self.bytes.extend(bytes(max(0, offset + len(data) - len(self.bytes))))
        self.bytes[offset : offset + len(data)] = data

    def read_at(self, count: int, offset: int) -> bytes:
        if self.broken:
            raise OSError("gone")
        return bytes(self.bytes[offset : offset + count])

    def flush(self) -> None: ...

    def close(self) -> None:
        self.closed = True


def content(pages: int, seed: int = 0) -> HostContent:
    """Two layers of random K and V, of different widths and kinds."""
    random = np.random.default_rng(seed)
    wide = random.standard_normal((pages, 4, 2, 8), np.float32)
    narrow = random.integers(0, 2**16, (pages, 4, 1, 6), np.uint16)
    return [(wide, narrow), (narrow + 1, wide + 1)]


def same(one: HostContent | None, other: HostContent) -> bool:
    assert one is not None
    arrays = zip(chain.from_iterable(one), chain.from_iterable(other), strict=True)
    return all(np.array_equal(a, b) and a.dtype == b.dtype for a, b in arrays)


# Costs.


@pytest.mark.parametrize(
    ("write", "read", "prefill", "cheaper"),
    [(1e9, 1e9, 1000.0, True), (1e6, 1e9, 1000.0, False), (1e9, 1e6, 1000.0, False), (1e6, 1e6, 1.0, True)],
)
def test_spilling_pays_when_it_is_faster_than_computing(  # R3, T15
    write: float, read: float, prefill: float, cheaper: bool
) -> None:
    rate = PrefillRate()
    rate.observe([100], 100 / prefill)
    assert SpillCosts(write, read, rate).is_cheaper(content_bytes=1 << 20, tokens=16) is cheaper


def test_bandwidth_is_measured_by_writing_and_reading() -> None:  # R3
    times = iter([0.0, 2.0, 3.0])
    costs = measure_costs(Memory(), lambda: next(times))
    assert (costs.write_bytes_per_second, costs.read_bytes_per_second) == ((4 << 20) / 2, 4 << 20)


# The file.


def test_pages_read_back_bit_for_bit_in_any_order() -> None:  # R3
    file = SpillFile(Memory())
    file.write([5, 0, 2], content(3))
    assert same(file.read([2, 5]).content, [(k[[2, 0]], v[[2, 0]]) for k, v in content(3)])


def test_a_page_that_does_not_match_its_checksum_is_not_trusted() -> None:  # R3
    disk = Memory()
    file = SpillFile(disk)
    file.write([0, 1], content(2))
    disk.bytes[len(disk.bytes) // 2 + 7] ^= 1
    assert file.read([0, 1]) == (None, {1})
    assert file.read([0]).damaged == frozenset()


def test_a_slot_that_was_never_written_is_damaged() -> None:  # R3
    file = SpillFile(Memory())
    file.write([3], content(1))
    assert file.read([0]).damaged == {0}


def test_the_file_is_private_and_has_no_name(tmp_path: Path) -> None:  # R3
    place = tmp_path / "spill"
    leftover = place / "pie-killed.spill"
    place.mkdir(mode=0o700)
    leftover.touch()
    disk = open_disk(str(place))
    disk.write_at(b"abc", 10)
    assert disk.read_at(9, 10) == b"abc"
    assert list(place.iterdir()) == []
    disk.close()


def test_missing_parents_are_made_closed_to_others(tmp_path: Path) -> None:
    open_disk(str(tmp_path / "home" / "spill")).close()
    assert stat.S_IMODE((tmp_path / "home").stat().st_mode) == 0o700


def test_a_directory_is_made_closed_to_others(tmp_path: Path) -> None:
    open_disk(str(tmp_path / "new" / "spill")).close()
    assert stat.S_IMODE((tmp_path / "new" / "spill").stat().st_mode) == 0o700


# The spill.


class Watched:
    """A spill on a disk in memory, and what it had to say."""

    def __init__(self, pages: int) -> None:
        self.disk, self.notices = Memory(), list[SpillNotice]()
        page_bytes = sum(array[0].nbytes for pair in content(1) for array in pair)
        self.spill = Spill(
            self.disk, FREE, page_bytes=page_bytes, max_bytes=pages * page_bytes, notify=self.notices.append
        )

    @property
    def states(self) -> list[str]:
        return [notice.state for notice in self.notices]


async def test_a_full_spill_takes_what_fits_and_says_so_once() -> None:  # R3
    watched = Watched(pages=4)
    assert len(watched.spill.take_slots(3)) == 3
    assert len(watched.spill.take_slots(3)) == 1
    assert watched.spill.take_slots(3) == []
    assert watched.states == ["full"]
    watched.spill.release([0, 2])
    assert sorted(watched.spill.take_slots(2)) == [0, 2]
    await watched.spill.close()
    assert watched.disk.closed


async def test_a_disk_that_fails_is_not_used_again_and_its_pages_are_damaged() -> None:  # R3
    watched = Watched(pages=8)
    kept = watched.spill.take_slots(1)
    await watched.spill.write(kept, content(1))
    await watched.spill.read(kept)
    watched.disk.broken = True
    lost = watched.spill.take_slots(2)
    await watched.spill.write(lost, content(2))
    assert (await watched.spill.read(lost)).damaged == set(lost)
    assert not watched.spill.is_worthwhile(16)
    assert watched.spill.take_slots(1) == []
    watched.disk.broken = False
    assert same((await watched.spill.read(kept)).content, content(1))
    assert watched.states == ["failed", "damaged"]
    await watched.spill.close()


def open_to_others(place: Path) -> None:
    place.mkdir()
    place.chmod(0o755)


@pytest.mark.parametrize("spoil", [Path.touch, open_to_others])
async def test_a_directory_that_cannot_be_used_means_no_spill(  # R3
    tmp_path: Path, spoil: Callable[[Path], None]
) -> None:
    place = tmp_path / "spill"
    spoil(place)
    notices: list[SpillNotice] = []
    assert await open_spill(str(place), page_bytes=64, max_bytes=1 << 20, notify=notices.append) is None
    assert [notice.state for notice in notices] == ["failed"]


async def test_a_directory_where_nothing_can_be_made_means_no_spill() -> None:  # R3
    read_only = "/proc/pie-spill" if sys.platform == "linux" else "/pie-spill"
    notices: list[SpillNotice] = []
    assert await open_spill(read_only, page_bytes=64, max_bytes=1 << 20, notify=notices.append) is None
    assert [notice.state for notice in notices] == ["failed"]
    assert "computed again" in notices[0].text


@pytest.mark.parametrize(("directory", "max_bytes"), [(None, 1 << 20), ("never made", 0)])
async def test_no_directory_or_no_bytes_means_no_spill(directory: str | None, max_bytes: int) -> None:
    assert await open_spill(directory, page_bytes=64, max_bytes=max_bytes, notify=lambda notice: None) is None


# The engine.


@pytest.fixture
def free_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the machine: spilling is the cheaper way."""
    monkeypatch.setattr("pie_mlx.engine.paging.spill.spill.measure_costs", lambda disk: SpillCosts(1e15, 1e15))


@pytest.fixture
def small(tmp_path: Path, free_disk: None) -> Iterator[Running]:
    with running(total_pages=12, spill_directory=str(tmp_path / "spill")) as started:
        yield started


async def write_alone(engine: Running, seed: int, prompt: int, tokens: int) -> list[int]:
    with Context(engine.model) as context:
        context.append(engine.prompt(prompt, seed))
        return await engine.greedy(context, tokens)


async def displace(engine: Running) -> None:
    """Have everybody else's pages reclaimed."""
    with Context(engine.model) as other:
        other.inner().reserve_working_pages(engine.store.pool.capacity)
        other.append(engine.prompt(8, 99))
        await other.flush()


def restored(engine: Running) -> ContextRestored:
    return [event for event in engine.events if isinstance(event, ContextRestored)][-1]


async def test_spilled_pages_come_back_bit_for_bit(small: Running) -> None:  # R4, R7, T15
    expected = await write_alone(small, 1, 40, 24)
    context = Context(small.model)
    context.append(small.prompt(40, 1))
    first = await small.greedy(context, 12)
    context.suspend()
    await displace(small)
    assert first + await small.greedy(context, 12) == expected
    assert (restored(small).read_pages, restored(small).replayed_tokens) == (4, 0)
    assert sum(event.pages for event in small.events if isinstance(event, PagesSpilled)) >= 4


async def test_a_directory_that_disappears_takes_nothing_along(small: Running, tmp_path: Path) -> None:  # R3, R4
    expected = await write_alone(small, 6, 40, 24)
    context = Context(small.model)
    context.append(small.prompt(40, 6))
    first = await small.greedy(context, 12)
    shutil.rmtree(tmp_path / "spill")
    context.suspend()
    await displace(small)
    assert first + await small.greedy(context, 12) == expected
    assert restored(small).read_pages == 4


@pytest.fixture
def damaged(monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk damages every second page."""
    write, numbers = FileDisk.write_at, itertools.count()

    def damage(self: FileDisk, data: bytes, offset: int) -> None:
        write(self, bytes([data[0] ^ 1]) + data[1:] if next(numbers) % 2 else data, offset)

    monkeypatch.setattr(FileDisk, "write_at", damage)


@pytest.mark.usefixtures("damaged")
async def test_damaged_pages_are_computed_again(small: Running) -> None:  # R3, R4
    expected = await write_alone(small, 1, 40, 24)
    context = Context(small.model)
    context.append(small.prompt(40, 1))
    first = await small.greedy(context, 12)
    context.suspend()
    await displace(small)
    assert first + await small.greedy(context, 12) == expected
    assert restored(small).read_pages > 0
    assert restored(small).replayed_tokens > 0
    assert any(event.state == "damaged" for event in small.events if isinstance(event, SpillChanged))


async def test_a_reclaimed_snapshot_is_read_back(small: Running) -> None:  # N6
    expected = await write_alone(small, 5, 40, 20)
    with Context(small.model) as context:
        context.append(small.prompt(40, 5))
        first = await small.greedy(context, 8)
        context.save("kept")
    await displace(small)
    opened = Context.open(small.model, "kept")
    assert opened is not None
    assert first + await small.greedy(opened, 12) == expected
    assert restored(small).read_pages > 0
    Context.delete(small.model, "kept")


async def test_spilled_pages_go_with_their_context(small: Running) -> None:  # R3
    context = Context(small.model)
    context.append(small.prompt(40, 1))
    await context.flush()
    context.suspend()
    await displace(small)
    spill = small.part(Spill)
    assert spill.stored_pages > 0
    context.release()
    await displace(small)
    assert spill.stored_pages == 0


async def test_a_slow_disk_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # R3, T15
    monkeypatch.setattr("pie_mlx.engine.paging.spill.spill.measure_costs", lambda disk: SpillCosts(1.0, 1.0))
    with running(total_pages=12, spill_directory=str(tmp_path / "spill")) as small:
        context = Context(small.model)
        context.append(small.prompt(40, 1))
        first = await small.greedy(context, 12)
        context.suspend()
        await displace(small)
        both = first + await small.greedy(context, 12)
        assert restored(small).replayed_tokens > 0
        assert not any(isinstance(event, PagesSpilled) for event in small.events)
        context.release()
        assert both == await write_alone(small, 1, 40, 24)


PROGRAMS = 40


@pytest.fixture(scope="module")
def written_alone() -> dict[int, list[int]]:
    """What each program writes when it has the engine to itself."""
    with running() as roomy:
        return {seed: finished(in_context(roomy, write_alone(roomy, seed, 30, 4))) for seed in range(PROGRAMS)}


@pytest.mark.usefixtures("free_disk")
@pytest.mark.parametrize("good_writes", [None, 20])
async def test_forty_programs_on_pages_for_eight_all_finish(  # Q7
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written_alone: dict[int, list[int]], good_writes: int | None
) -> None:
    if good_writes is not None:
        fail_after(good_writes, monkeypatch)
    with running(total_pages=24, policy="market", spill_directory=str(tmp_path / "spill")) as small:

        async def program(seed: int) -> list[int]:
            with small.process():
                return await write_alone(small, seed, 30, 4)

        written = await asyncio.gather(*(program(seed) for seed in range(PROGRAMS)))
        assert dict(enumerate(written)) == written_alone
        assert small.used_pages() == 0
        states = [event.state for event in small.events if isinstance(event, SpillChanged)]
        assert states[0] == "ready"
        assert ("failed" in states) == (good_writes is not None)
        read_pages = sum(event.read_pages for event in small.events if isinstance(event, ContextRestored))
        assert read_pages or good_writes is not None


def fail_after(writes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk goes away after `writes` writes, for reading too."""
    left = iter(range(writes))
    write_at, read_at = FileDisk.write_at, FileDisk.read_at

    def write(disk: FileDisk, data: bytes, offset: int) -> None:
        if next(left, None) is None:
            raise OSError("no space left on the disk")
        write_at(disk, data, offset)

    def read(disk: FileDisk, count: int, offset: int) -> bytes:
        if left.__length_hint__() == 0:
            raise OSError("the disk is gone")
        return read_at(disk, count, offset)

    monkeypatch.setattr(FileDisk, "write_at", write)
    monkeypatch.setattr(FileDisk, "read_at", read)
