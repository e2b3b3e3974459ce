"""Long frames on their way share the room there is for them."""

import pytest

from pie_mlx.runtime.worker.frames.receive_budget import STALL_SECONDS, ReceiveBudget


class Loop:
    """A loop whose time the test moves."""

    def __init__(self):
        self.now, self.timers = 0.0, []

    def time(self):
        return self.now

    def call_at(self, when, callback):
        self.timers.append((when, callback))

    def pass_time(self, seconds):
        self.now += seconds
        due = [timer for timer in self.timers if timer[0] <= self.now]
        self.timers = [timer for timer in self.timers if timer[0] > self.now]
        for _, callback in due:
            callback()


@pytest.fixture
def loop():
    return Loop()


@pytest.fixture
def reserve(loop):
    room, told = ReceiveBudget(loop, 100), []

    def ask(sender, size_bytes):
        def give_up():
            told.append((sender, "given up"))
            room.release(sender)

        return room.reserve(sender, size_bytes, go_on=lambda: told.append((sender, "go on")), give_up=give_up)

    ask.room, ask.told = room, told
    return ask


def test_frames_wait_in_order_until_there_is_room_for_all_of_one(reserve):
    assert [reserve(1, 60), reserve(2, 60), reserve(3, 40)] == [True, False, False]
    reserve.room.release(1)
    assert reserve.told == [(2, "go on"), (3, "go on")]


def test_who_goes_away_waits_no_more(reserve):
    assert [reserve(1, 60), reserve(2, 60), reserve(3, 60)] == [True, False, False]
    reserve.room.release(2)
    reserve.room.release(1)
    reserve.room.release(1)
    assert reserve.told == [(3, "go on")]
    assert reserve(4, 40)


def test_a_frame_that_does_not_come_is_given_up_when_others_wait(reserve, loop):
    assert reserve(1, 60)
    loop.pass_time(10 * STALL_SECONDS)
    assert reserve(2, 40)
    assert reserve.told == []
    assert not reserve(3, 60)
    loop.pass_time(0)
    assert reserve.told == [(1, "given up"), (3, "go on")]
    loop.pass_time(10 * STALL_SECONDS)
    assert len(reserve.told) == 2


def test_a_frame_that_takes_long_gets_its_time_though_others_wait(reserve, loop):
    assert [reserve(1, 60), reserve(2, 60)] == [True, False]
    loop.pass_time(STALL_SECONDS - 1)
    assert reserve.told == []
    loop.pass_time(1)
    assert reserve.told == [(1, "given up"), (2, "go on")]
