"""The file opens where the Trace Event Format is read: every rule of the format that readers rely on."""

from collections import defaultdict
from itertools import pairwise

import msgspec
import pytest

from pie_mlx.events import EngineStarted, ProcessLaunched, ProcessReturned, TickCompleted
from pie_mlx.trace.chrome import trace_events
from pie_mlx.trace.file import Recorded
from pie_mlx.trace.fold import TraceFold
from pie_mlx.trace.spans import TRACKS


@pytest.fixture(scope="module")
def written(recorded):
    """The events, as a reader of the JSON gets them."""
    return msgspec.json.decode(msgspec.json.encode(trace_events(recorded.trace())))


def phase(events, *phases):
    return [event for event in events if event["ph"] in phases]


def test_only_known_phases_are_there_and_each_has_its_fields(written):
    fields = {
        "M": {"args"},
        "X": {"cat", "ts", "dur", "args"},
        "C": {"ts", "args"},
        "s": {"cat", "ts", "id"},
        "f": {"cat", "ts", "id", "bp"},
    }
    for event in written:
        assert set(event) == {"ph", "name", "pid", "tid"} | fields[event["ph"]]
        assert event["name"]


def test_names_come_first_and_moments_never_fall(written):
    timed = [event["ph"] != "M" for event in written]
    assert timed == sorted(timed)
    moments = [event["ts"] for event in written if event["ph"] != "M"]
    assert moments == sorted(moments)
    assert moments[0] >= 0


def test_every_process_and_thread_has_a_name(written):
    named = {(event["pid"], event["tid"]) for event in phase(written, "M") if event["name"] == "thread_name"}
    used = {(event["pid"], event["tid"]) for event in phase(written, "X", "s", "f")}
    assert used == named
    processes = {
        event["pid"]: event["args"]["name"] for event in phase(written, "M") if event["name"] == "process_name"
    }
    assert set(processes) == {pid for pid, _ in used}
    assert [name.split()[0].partition("@")[0] for name in processes.values()] == ["engine", "agent", "child"]


def test_threads_are_the_tracks(written):
    names = {event["args"]["name"].split()[0] for event in phase(written, "M") if event["name"] == "thread_name"}
    assert names == {*TRACKS, "batches"} - {"http"}


def test_durations_are_no_less_than_nothing_and_spans_of_a_thread_nest(written):
    threads = defaultdict(list)
    for event in phase(written, "X"):
        assert event["dur"] >= 0
        threads[event["pid"], event["tid"]].append((event["ts"], event["ts"] + event["dur"]))
    for spans in threads.values():
        open_ends = []
        for start, end in spans:
            while open_ends and open_ends[-1] <= start + 0.001:
                open_ends.pop()
            assert not open_ends or end <= open_ends[-1] + 0.001
            open_ends.append(end)


def test_arrows_have_two_ends_in_the_order_of_time_each_on_a_span(written):
    spans = [(event["pid"], event["tid"], event["ts"], event["ts"] + event["dur"]) for event in phase(written, "X")]
    ends = defaultdict(list)
    for event in phase(written, "s", "f"):
        ends[event["id"]].append(event)
        place = (event["pid"], event["tid"])
        assert any(span[:2] == place and span[2] <= event["ts"] <= span[3] for span in spans)
    assert all([one["ph"], other["ph"]] == ["s", "f"] for one, other in ends.values())
    assert all(one["ts"] <= other["ts"] for one, other in ends.values())
    assert sorted(one["name"] for one, _ in ends.values()) == ["done", "launch", "work"]
    assert all(one["pid"] != other["pid"] for one, other in ends.values())


def test_counters_are_numbers(written):
    counters = phase(written, "C")
    assert {event["name"] for event in counters} == {"batch", "waiting contexts", "pages in use", "clearing price"}
    assert all(isinstance(value, int | float) for event in counters for value in event["args"].values())


def test_batches_follow_one_another(written):
    batches = [(event["ts"], event["ts"] + event["dur"]) for event in phase(written, "X") if event["pid"] == 1]
    assert len(batches) > 2
    assert all(one[1] <= other[0] + 0.001 for one, other in pairwise(batches))


def test_a_batch_that_began_before_the_one_before_was_told_of_follows_it():
    fold = TraceFold()
    for tick, moment, seconds in ((1, 10.0, 1.0), (2, 10.5, 0.9), (3, 12.0, 1.0)):
        fold.observe(TickCompleted(tick, 1, 1, 0, seconds, at_seconds=moment))
    assert [(batch.start, batch.end) for batch in fold.trace().batches] == [(9.0, 10.0), (10.0, 10.5), (11.0, 12.0)]


def test_many_spans_at_once_get_threads_of_their_own():
    count = 30
    events = [EngineStarted("m", "market", 1, 1)]
    for number in range(count):
        events.append(ProcessLaunched(str(number), "ada", "p@1.0.0", at_seconds=1.0))
        events.append(ProcessReturned(str(number), "", at_seconds=2.0 + number))
    written = trace_events(Recorded(events).trace())
    assert len({event["pid"] for event in phase(written, "X")}) == count
