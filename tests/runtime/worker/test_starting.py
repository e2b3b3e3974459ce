"""Launches start in turn, a few at once."""

import asyncio
from collections import Counter
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from pie_mlx.runtime.worker.starting import ALONE, BURST_SECONDS, StartGate

PROCESSORS = 4


class Launches:
    """A gate, who has begun, and who has programs that run."""

    def __init__(self) -> None:
        self.begun: list[Launch] = []
        self.news = asyncio.Event()
        self.running: set[str] = set()
        self.start_seconds = 0.0
        self.gate = StartGate(
            asyncio.get_running_loop(), lambda: self.running, lambda process_id: self.start_seconds, PROCESSORS
        )

    def enter(self, *users: str) -> "list[Launch]":
        launches = [Launch(user, self) for user in users]
        for launch in launches:
            self.gate.enter(launch)
        return launches

    def names(self) -> list[str]:
        return [launch.username for launch in self.begun]


class Launch:
    def __init__(self, username: str, launches: Launches) -> None:
        self.username, self._launches = username, launches
        self.process_id = None
        self.has_begun = False

    def begin(self) -> None:
        self.process_id = len(self._launches.begun)
        self._launches.begun.append(self)
        self._launches.news.set()

    def begun(self) -> None:
        self.has_begun = True


class FailingLaunch(Launch):
    """It gets no worker."""

    def begin(self) -> None:
        super().begin()
        self._launches.gate.started(self)


async def test_the_only_user_keeps_all_processors_busy():
    launches = Launches()
    launches.enter(*["ada"] * 50)
    assert len(launches.begun) == ALONE * PROCESSORS
    first = launches.begun[0]
    assert not first.has_begun
    launches.gate.started(first)
    assert first.has_begun
    await asyncio.sleep(0)
    assert len(launches.begun) == ALONE * PROCESSORS + 1


async def test_a_user_beside_others_starts_programs_on_half_of_the_processors():
    launches = Launches()
    launches.running.add("ada")
    launches.enter(*["mallory"] * 50)
    assert launches.names() == ["mallory"] * (PROCESSORS // 2)


async def finish_all(launches: Launches) -> int:
    """How many begin, each of which starts at once, until no more do."""
    ended = 0
    while ended < len(launches.begun):
        launches.gate.started(launches.begun[ended])
        ended += 1
        await asyncio.sleep(0)
    return ended


async def test_starts_beside_others_take_a_share_of_the_processors():
    launches = Launches()
    launches.running.add("ada")
    launches.start_seconds = BURST_SECONDS / 8
    launches.enter(*["mallory"] * 50)
    assert 8 < await finish_all(launches) <= 8 + PROCESSORS
    launches.enter("bob")
    assert launches.names()[-1] == "bob"
    launches.running.clear()
    launches.gate.close()


async def test_a_worker_that_ends_before_it_has_started_is_paid_for():
    launches = Launches()
    launches.running.add("ada")
    launches.enter("mallory")
    launches.gate.started(launches.begun[0], 2 * BURST_SECONDS)
    launches.enter("mallory")
    assert len(launches.begun) == 1
    launches.gate.close()


async def test_the_only_user_starts_as_many_as_it_likes():
    launches = Launches()
    launches.start_seconds = BURST_SECONDS
    launches.enter(*["ada"] * 50)
    assert await finish_all(launches) == 50


async def test_who_has_used_up_its_share_of_starts_goes_on_after_a_rest():
    launches = Launches()
    launches.running.add("ada")
    launches.start_seconds = BURST_SECONDS * 1.01
    launches.enter("mallory")
    assert await finish_all(launches) == 1
    launches.news.clear()
    launches.enter("mallory")
    assert len(launches.begun) == 1
    await launches.news.wait()
    assert len(launches.begun) == 2


async def test_a_user_who_comes_after_a_flood_starts_at_once():
    launches = Launches()
    launches.enter(*["mallory"] * 200)
    launches.enter("ada")
    assert launches.names()[-1] == "ada"


async def test_a_launch_that_is_given_up_before_its_turn_never_begins():
    launches = Launches()
    launches.running.add("ada")
    waiting = launches.enter(*["mallory"] * 4)[-1]
    assert launches.gate.withdraw(waiting)
    for launch in list(launches.begun):
        assert not launches.gate.withdraw(launch)
        launches.gate.started(launch)
        await asyncio.sleep(0)
    assert waiting not in launches.begun
    assert len(launches.begun) == 3


async def test_a_thousand_launches_that_fail_at_once_all_fail():
    launches = Launches()
    for _ in range(1000):
        launches.gate.enter(FailingLaunch("ada", launches))
    while len(launches.begun) < 1000:  # noqa: ASYNC110 - a failure lets the next one begin in the next turn of the loop
        await asyncio.sleep(0)


async def test_those_that_wait_begin_when_the_engine_stops_so_that_they_fail():
    launches = Launches()
    launches.enter(*["ada"] * 50)
    launches.gate.close()
    assert len(launches.begun) == 50


@given(st.lists(st.sampled_from(["ada", "bob", "mallory"]), max_size=40))
def test_everybody_begins_and_nobody_holds_more_than_a_share(users: Sequence[str]):
    async def run() -> None:
        launches = Launches()
        launches.running = {"ada", "bob"}
        launches.enter(*users)
        ended = 0
        while ended < len(launches.begun):
            starting = Counter(launch.username for launch in launches.begun[ended:])
            assert all(count <= PROCESSORS // 2 for count in starting.values())
            launches.gate.started(launches.begun[ended])
            ended += 1
            await asyncio.sleep(0)
        assert Counter(launches.names()) == Counter(users)

    asyncio.run(run())
