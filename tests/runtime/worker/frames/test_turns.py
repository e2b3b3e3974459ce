"""The engine's loop takes frames in rounds over users."""

import asyncio
from collections import Counter
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from pie_mlx.runtime.worker.frames.turns import ROUND_SECONDS, FrameTurns

SECONDS = ROUND_SECONDS * 0.6
"""Of one turn, by the clock of the test."""


class Workers:
    """Turns, and whose were taken, in order."""

    def __init__(self, *, are_several: bool = True) -> None:
        self.taken: list[str] = []
        self.seconds = 0.0
        self.turns = FrameTurns(asyncio.get_running_loop(), lambda: are_several, lambda: self.seconds)

    def ask(self, user: str) -> bool:
        def turn() -> int:
            self.taken.append(user)
            self.seconds += SECONDS
            return 0

        return self.turns.enter(user, turn)


async def test_a_call_waits_for_one_round_of_a_user_with_many_workers():
    workers = Workers()
    at_once = [workers.ask("mallory") for _ in range(64)]
    assert workers.ask("ada")
    assert at_once == [True] * 2 + [False] * 62
    assert workers.taken == ["mallory", "mallory", "ada"]
    await asyncio.sleep(0)
    assert workers.ask("ada")
    assert workers.taken[3:] == ["mallory", "mallory", "ada"]


async def test_frames_of_the_only_user_are_taken_at_once():
    workers = Workers(are_several=False)
    assert all(workers.ask("ada") for _ in range(64))


async def test_a_turn_that_fails_keeps_no_other_from_its_own():
    workers = Workers()

    def fail() -> int:
        raise MemoryError

    asyncio.get_running_loop().set_exception_handler(lambda loop, context: None)
    for _ in range(2):
        workers.ask("mallory")
    assert not workers.turns.enter("mallory", fail)
    assert not workers.ask("mallory")
    for _ in range(2):
        await asyncio.sleep(0)
    assert workers.taken == ["mallory"] * 3


@given(st.lists(st.sampled_from(["ada", "bob", "mallory"]), max_size=60))
def test_everybody_gets_all_turns_and_no_round_has_more_than_a_users_share(users: Sequence[str]):
    async def run() -> None:
        workers = Workers()
        for user in users:
            workers.ask(user)
        before = 0
        while len(workers.taken) < len(users) or before < len(workers.taken):
            assert max(Counter(workers.taken[before:]).values()) <= 2
            before = len(workers.taken)
            await asyncio.sleep(0)
        assert Counter(workers.taken) == Counter(users)

    asyncio.run(run())
