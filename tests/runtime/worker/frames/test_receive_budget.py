"""Long frames on their way share the room there is for them."""

import pytest

from pie_mlx.runtime.worker.frames.receive_budget import STALL_SECONDS, FrameRoom


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
def enter(loop):
    room, told = FrameRoom(loop, 100), []

    def ask(sender, size_bytes):
        def give_up():
            told.append((sender, "given up"))
            room.leave(sender)

        return room.enter(sender, size_bytes, go_on=lambda: told.append((sender, "go on")), give_up=give_up)

    ask.room, ask.told = room, told
    return ask


def test_frames_wait_in_order_until_there_is_room_for_all_of_one(enter):
    assert [enter(1, 60), enter(2, 60), enter(3, 40)] == [True, False, False]
    enter.room.leave(1)
    assert enter.told == [(2, "go on"), (3, "go on")]


def test_who_goes_away_waits_no_more(enter):
    assert [enter(1, 60), enter(2, 60), enter(3, 60)] == [True, False, False]
    enter.room.leave(2)
    enter.room.leave(1)
    enter.room.leave(1)
    assert enter.told == [(3, "go on")]
    assert enter(4, 40)


def test_a_frame_that_does_not_come_is_given_up_when_others_wait(enter, loop):
    assert enter(1, 60)
    loop.pass_time(10 * STALL_SECONDS)
    assert enter(2, 40)
    assert enter.told == []
    assert not enter(3, 60)
    loop.pass_time(0)
    assert enter.told == [(1, "given up"), (3, "go on")]
    loop.pass_time(10 * STALL_SECONDS)
    assert len(enter.told) == 2


def test_a_frame_that_takes_long_gets_its_time_though_others_wait(enter, loop):
    assert [enter(1, 60), enter(2, 60)] == [True, False]
    loop.pass_time(STALL_SECONDS - 1)
    assert enter.told == []
    loop.pass_time(1)
    assert enter.told == [(1, "given up"), (2, "go on")]
