"""Where the time went, and that it agrees with what the engine itself counts."""

import pytest

from pie_mlx.events import (
    CallAnswered,
    ContextCreated,
    ContextRestored,
    ContextRestoring,
    ContextSuspended,
    McpCalled,
    PassCompleted,
    ProcessFailed,
    ProcessLaunched,
    ProcessQueued,
    ProcessReturned,
    WaitChanged,
)
from pie_mlx.runtime.registry import User
from pie_mlx.server.watching.process_history import ProcessHistory
from pie_mlx.trace.file import Recorded
from pie_mlx.trace.times import OTHER, times_of

LAUNCHED = ProcessLaunched("p", "ada", "prog@1.0.0", at_seconds=10.0)
CREATED = ContextCreated("p", 1, at_seconds=10.0)
RETURNED = ProcessReturned("p", "", at_seconds=20.0)


def pass_(requested, started, completed, tokens=1, following=0):
    return PassCompleted(
        "p",
        1,
        0,
        tokens + following,
        1,
        requested_seconds=requested,
        started_seconds=started,
        completed_seconds=completed,
        following=following,
    )


def step(began, ended):
    return CallAnswered("p", "forward", began, ended, context=1)


def parts(*events):
    (times,) = times_of(Recorded(events).trace())
    assert sum(part.self_seconds for part in times.parts) == pytest.approx(times.seconds)
    return {part.part: round(part.self_seconds, 6) for part in times.parts if part.self_seconds}


def test_time_outside_calls_is_the_programs_own_code():
    found = parts(LAUNCHED, CREATED, step(12.0, 15.0), pass_(12.0, 12.0, 15.0, tokens=50), RETURNED)
    assert found == {"own code": 7.0, "prefill": 3.0}


def test_waits_have_the_reason_of_each_moment():
    waits = [
        WaitChanged(1, "no_pages", "waiting: needs 3 pages", 12.0),
        WaitChanged(1, "batch_tokens", "waiting: the batch has no room", 13.0),
        WaitChanged(1, at_seconds=13.5),
    ]
    found = parts(LAUNCHED, CREATED, *waits, step(12.0, 15.0), pass_(12.0, 14.0, 15.0), RETURNED)
    assert found == {
        "own code": 7.0,
        "decode": 1.0,
        "wait: no_pages": 1.0,
        "wait: batch_tokens": 0.5,
        "wait: next batch": 0.5,
    }


def test_a_suspended_context_waits_only_while_its_program_asks_for_it():
    suspended = [
        ContextSuspended(1, 2, "outbid", "suspended: bid 1", 11.0),
        ContextRestoring(1, at_seconds=13.0),
        ContextRestored(1, at_seconds=14.0),
    ]
    found = parts(LAUNCHED, CREATED, *suspended, step(12.0, 15.0), pass_(12.0, 14.0, 15.0), RETURNED)
    assert found == {"own code": 7.0, "wait: outbid": 1.0, "restore": 1.0, "decode": 1.0}


def test_the_wait_for_admission_comes_before_the_launch():
    queued = ProcessQueued("p", "ada", "prog@1.0.0", "waits for pages", 6.0)
    assert parts(queued, LAUNCHED, step(10.0, 20.0), RETURNED) == {"wait: admission": 4.0, "step": 10.0}


@pytest.mark.parametrize(
    ("call", "part"),
    [
        ("await_child", "wait: child"),
        ("await_message", "wait: message"),
        ("push", "wait: message"),
        ("await_incoming", "wait: client"),
        ("compile_grammar", "other calls"),
    ],
)
def test_other_calls_are_told_by_whom_they_wait_for(call, part):
    assert parts(LAUNCHED, CallAnswered("p", call, 11.0, 13.0), RETURNED) == {"own code": 8.0, part: 2.0}


def test_a_tool_is_one_part_though_two_events_tell_of_it():
    called = McpCalled("p", "s", "tools/call", 2.0, tool="search", at_seconds=13.0)
    found = parts(LAUNCHED, called, CallAnswered("p", "call_mcp", 11.0, 13.0, about="s"), RETURNED)
    assert found == {"own code": 8.0, "tools": 2.0}


def test_of_several_at_once_each_moment_counts_once_and_the_total_counts_all():
    events = [LAUNCHED, step(10.0, 14.0), step(12.0, 16.0), pass_(10.0, 10.0, 14.0), pass_(12.0, 12.0, 16.0), RETURNED]
    (times,) = times_of(Recorded(events).trace())
    decode = next(part for part in times.parts if part.part == "decode")
    assert (decode.self_seconds, decode.total_seconds, decode.count) == (6.0, 8.0, 2)


def test_without_details_the_rest_is_not_claimed_to_be_own_code():
    assert parts(LAUNCHED, pass_(12.0, 12.0, 15.0), RETURNED) == {OTHER: 7.0, "decode": 3.0}


def test_a_program_that_failed_or_never_ended_is_counted_up_to_there():
    failed = ProcessFailed("p", "ValueError", "no", at_seconds=12.0)
    assert parts(LAUNCHED, failed) == {OTHER: 2.0}
    assert parts(LAUNCHED, WaitChanged(1, at_seconds=14.0)) == {OTHER: 4.0}


def test_the_sums_of_a_real_run_agree_with_the_engines_own_figures(recorded):
    history = ProcessHistory()
    for event in recorded.events:
        history.observe(event)
    own = {row.id: (row.tokens, row.passes) for row in history.rows(User("x", admin=True))}
    times = times_of(recorded.trace())
    assert {one.process: (one.prefill_tokens + one.decode_tokens, one.passes) for one in times} == own
    agent, child = times
    assert (child.parent, agent.outcome) == (agent.process, "returned")
    assert all(sum(part.self_seconds for part in one.parts) == pytest.approx(one.seconds) for one in times)
    passes = [event for event in recorded.events if isinstance(event, PassCompleted)]
    computing = sum(event.completed_seconds - max(event.started_seconds, event.requested_seconds) for event in passes)
    waiting = sum(max(0.0, event.started_seconds - event.requested_seconds) for event in passes)
    totals = {part.part: part.total_seconds for part in agent.parts}
    assert totals["prefill"] + totals["decode"] == pytest.approx(computing)
    assert sum(seconds for part, seconds in totals.items() if part == "wait: next batch") == pytest.approx(waiting)
    assert {"own code", "step", "tools", "wait: message", "wait: child"} <= set(totals)
