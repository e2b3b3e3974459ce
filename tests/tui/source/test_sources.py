import asyncio
import itertools
from pathlib import Path

import pytest

from pie_mlx.errors import InvalidArgumentError
from pie_mlx.event_log import HEADER, EventWriter
from pie_mlx.events import PagesCounted, ProcessLaunched
from pie_mlx.tui.inbox import MOST_WAITING, Inbox
from pie_mlx.tui.model import INITIAL, Record, advance, fold, records_of
from pie_mlx.tui.model.folding.checkpoints import CHECKPOINT_RECORDS, Checkpoints
from pie_mlx.tui.source.demo import DemoSource
from pie_mlx.tui.source.playback import Playback
from pie_mlx.tui.source.recording import RecordingSource, open_recording
from pie_mlx.tui.source.scripted_engine import ScriptedEngine
from tests.tui.stream import RUNNING, computed, tick

RECORDING = Path(__file__).parents[1] / "recordings" / "contention.events"


def scripted(ticks: int, programs: int = 8) -> list[Record]:
    engine = ScriptedEngine(programs, 120)
    records = [Record(0.0, event) for event in engine.start()]
    for number in range(1, ticks + 1):
        records += [Record(number / 10, event) for event in engine.tick()]
    return records


@pytest.fixture(scope="module")
def records() -> list[Record]:
    return scripted(300)


def opened(records: list[Record]) -> tuple[RecordingSource, Inbox]:
    return RecordingSource(records, "test"), Inbox()


def test_a_recording_played_to_its_end_is_the_fold_of_all_its_events(records):
    source, inbox = opened(records)
    for _ in range(400):
        source.play(inbox, 0.1)
    assert inbox.state() == fold(INITIAL, records)
    assert not source.playback.playing


@pytest.mark.parametrize("place", [0.0, 0.3, 0.99, 1.0])
def test_seeking_gives_the_state_of_that_moment(records, place):
    source, inbox = opened(records)
    source.playback.seek_to(1.0)
    source.play(inbox, 0.0)
    source.playback.seek_to(place)
    source.play(inbox, 0.0)
    moment = place * records[-1].seconds
    until = fold(INITIAL, [record for record in records if record.seconds <= moment])
    assert inbox.state() == advance(until, moment)


def test_a_step_goes_to_the_end_of_the_next_tick_and_back(records):
    source, inbox = opened(records)
    source.playback.seek_to(0.5)
    source.play(inbox, 0.0)
    before = inbox.state().ticks
    for step, expected in ((1, 1), (1, 2), (-1, 1), (-1, 0), (-1, -1)):
        source.playback.step(step)
        source.play(inbox, 0.0)
        assert inbox.state().ticks == before + expected
    assert not source.playback.playing


def test_steps_stop_at_both_ends(records):
    source, inbox = opened(records)
    for steps, ticks in ((-5, 0), (10_000, 300)):
        source.playback.step(steps)
        source.play(inbox, 0.0)
        assert inbox.state().ticks == ticks


def test_a_paused_recording_stands_still(records):
    source, inbox = opened(records)
    source.playback.toggle()
    source.play(inbox, 5.0)
    assert source.playback.position_seconds == 0


def test_a_recording_that_ended_plays_again_from_the_start():
    playback = Playback(10.0)
    playback.pass_time(11.0)
    assert (playback.playing, playback.fraction) == (False, 1.0)
    playback.toggle()
    assert (playback.playing, playback.position_seconds) == (True, 0.0)


def test_speed_multiplies_time_and_has_limits():
    playback = Playback(1000.0)
    playback.change_speed(1)
    playback.pass_time(3.0)
    assert playback.position_seconds == 6.0
    for _ in range(20):
        playback.change_speed(-1)
    assert playback.speed == 0.1


def test_checkpoints_give_the_same_states_as_folding_from_the_start():
    records = scripted(600, programs=20)
    assert len(records) > 2 * CHECKPOINT_RECORDS
    checkpoints = Checkpoints(records)
    for count in (len(records), 10, CHECKPOINT_RECORDS, CHECKPOINT_RECORDS + 7):
        assert checkpoints.state(count, 0.0) == fold(INITIAL, records[:count])


def test_the_committed_recording_shows_contention():
    source = open_recording(RECORDING)
    state = fold(INITIAL, source.records)
    assert len({process.program for process in state.processes.values()}) >= 5
    assert max(sample.suspended for sample in state.history) >= 3
    assert max(sample.price for sample in state.pool.history) > 0
    assert max(sample.used for sample in state.pool.history) == state.pages.total
    assert len(state.evictions) > 10


def test_times_come_from_the_clock_of_the_recorder(tmp_path):
    moments = iter((5.0, 5.5, 9.0, 9.0, 9.25, 9.5))
    with EventWriter(tmp_path / "a.events", lambda: next(moments)) as log:
        for event in RUNNING:
            log.write(event)
    source = open_recording(tmp_path / "a.events")
    assert [record.seconds for record in source.records] == [5.0, 5.5, 9.0, 9.0, 9.25, 9.5]


def test_a_log_without_a_clock_has_the_moments_its_passes_tell():
    assert [record.seconds for record in records_of(RUNNING)] == [100.0] * 6
    assert [record.seconds for record in records_of([*RUNNING[:4]])] == [0.0] * 4


def test_time_never_goes_back():
    events = [computed(), tick(), computed(took=0.5)]
    assert all(a.seconds <= b.seconds for a, b in itertools.pairwise(records_of(events)))


async def test_a_recording_cut_anywhere_shows_what_is_whole_and_says_so(tmp_path):
    data = RECORDING.read_bytes()
    for size in (len(HEADER) + 300, len(data) // 2, len(data) - 1):
        (tmp_path / "cut.events").write_bytes(data[:size])
        source, inbox = open_recording(tmp_path / "cut.events"), Inbox()
        source.playback.seek_to(1.0)
        playing = asyncio.create_task(source.run(inbox))
        await asyncio.sleep(0)
        playing.cancel()
        assert inbox.state().events == len(source.records)
        assert "cut short" in inbox.connection.text


@pytest.mark.parametrize("content", [b"", b"PNG and more", HEADER])
def test_a_file_that_is_no_recording_or_holds_nothing_is_refused_in_one_line(tmp_path, content):
    (tmp_path / "other.events").write_bytes(content)
    with pytest.raises(InvalidArgumentError, match=r"not an event log|holds no events") as refused:
        open_recording(tmp_path / "other.events")
    assert "\n" not in str(refused.value)


def test_events_of_unknown_kinds_are_counted(tmp_path):
    source, inbox = RecordingSource(scripted(3), "x", unknown=4), Inbox()
    source.playback.seek_to(1.0)
    source.play(inbox, 0.0)
    assert inbox.state().unknown == 4
    source.playback.seek_to(0.2)
    source.play(inbox, 0.0)
    assert inbox.state().unknown == 4


def test_an_inbox_that_is_not_looked_at_folds_alone_and_still_has_something_new(monkeypatch):
    folded = []

    def counted(state, records):
        folded.append(len(records))
        return fold(state, records)

    monkeypatch.setattr("pie_mlx.tui.inbox.fold", counted)
    inbox = Inbox()
    inbox.extend([Record(0.0, tick(1))] * (MOST_WAITING + 1))
    assert (folded, inbox.changed) == ([MOST_WAITING + 1], True)


def test_the_scripted_engine_tells_the_same_story_twice():
    assert scripted(60) == scripted(60)


def test_the_scripted_engine_never_has_more_pages_than_there_are():
    counts = [record.event for record in scripted(200) if isinstance(record.event, PagesCounted)]
    assert len(counts) == 200
    for count in counts:
        assert count.pages.used + count.pages.cached <= count.pages.total
        held = sum(context.effective for context in count.contexts)
        assert sum(process.own for process in count.processes) == pytest.approx(held)


async def test_the_demo_can_be_steered():
    source, inbox = DemoSource(warm_ticks=80), Inbox()
    source.start(inbox)
    living = [process for process in inbox.state().processes.values() if process.lives]
    await source.set_bid(living[0].id, 0.9)
    await source.suspend(living[1].id)
    await source.send(living[2].id, "hello")
    await source.kill(living[3].id)
    started = await source.launch("chat@0.3.1", {"prompt": "x"}, None)
    state = inbox.state()
    bids = {context.bid for context in state.contexts.values() if context.process == living[0].id}
    assert bids == {0.9}
    assert state.processes[living[3].id].outcome == "killed"
    assert "You said: hello" in state.processes[living[2].id].output[-1].text
    assert state.processes[started].program == "chat@0.3.1"


def test_what_was_seen_can_be_replayed():
    inbox = Inbox()
    inbox.extend([Record(1.0, ProcessLaunched("p", "ada", "x@1.0.0"))])
    assert [record.seconds for record in inbox.seen] == [1.0]
