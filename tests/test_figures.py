"""Figures of the last quarter of an hour, as servers and monitors fold them."""

import random

import msgspec
import pytest

from pie_mlx.events import (
    ContextReleased,
    EngineStarted,
    PassCompleted,
    ProcessLaunched,
    ProcessReturned,
    TickCompleted,
)
from pie_mlx.figures import SLOT_SECONDS, SLOTS, Figures, Recent, bucket_of, percentile, seconds_of

NOW = 1_000_000.0


def passed(completed, *, requested=0.0, context=1, computed=1, rows=1, process="p", **more):
    return PassCompleted(process, context, 0, computed, rows, 0, requested, completed, **more)


def folded(*events, before=None, at=NOW):
    figures = Figures(before or Recent())
    for event in events:
        figures.observe(event, at)
    return figures.recent()


def waits(recent, kind="first", minutes=15):
    counts = getattr(recent.window(NOW, minutes), kind)
    return {round(seconds_of(bucket), 6): count for bucket, count in counts.items()}


@pytest.mark.parametrize("percent", [50, 95, 99])
def test_a_percentile_is_that_of_the_waits_to_five_percent(percent):
    draw = random.Random(percent)
    values = sorted(draw.lognormvariate(-2, 1.5) for _ in range(2000))
    counts: dict[int, int] = {}
    for value in values:
        counts[bucket_of(value)] = counts.get(bucket_of(value), 0) + 1
    exact = values[-(-len(values) * percent // 100) - 1]
    assert percentile(counts, percent) == pytest.approx(exact, rel=0.05)


def test_there_is_no_percentile_of_nothing():
    assert percentile({}, 99) == 0.0


@pytest.mark.parametrize("seconds", [0.0, -1.0, 1e-9, 1e9, float("inf")])
def test_the_number_of_buckets_is_bounded(seconds):
    assert 0 <= bucket_of(min(seconds, 1e12)) <= 180


def test_a_first_token_is_waited_for_from_the_request_of_its_prompt():
    recent = folded(passed(11.0, requested=10.0, computed=400))
    assert waits(recent) == {round(seconds_of(bucket_of(1.0)), 6): 1}


def test_an_http_request_waits_from_when_it_had_arrived():
    launched = ProcessLaunched("p", "ada", "openai", input='{"path": "/v1/completions"}', asked_seconds=8.0)
    recent = folded(launched, passed(11.0, requested=10.0, computed=400), passed(12.0, context=2, computed=400))
    assert waits(recent) == {round(seconds_of(bucket_of(3.0)), 6): 1}


def test_what_answers_with_no_text_has_no_tokens_to_wait_for():
    launched = ProcessLaunched("p", "ada", "openai", input='{"path": "/v1/embeddings"}', asked_seconds=8.0)
    assert waits(folded(launched, passed(11.0, computed=400))) == {}


def test_tokens_that_one_pass_brought_share_its_time():
    recent = folded(
        passed(10.0, requested=9.0, computed=50), passed(10.8, following=2, guessed_tokens=3, guessed_right=1)
    )
    assert waits(recent, "between") == {round(seconds_of(bucket_of(0.2)), 6): 4}


def test_a_pass_that_is_not_read_brings_no_token():
    assert waits(folded(passed(10.0, computed=50, rows=0))) == {}


def test_a_later_prompt_begins_a_reply_of_its_own_and_a_step_does_not():
    recent = folded(passed(10.0, requested=9.0, computed=50), passed(10.1), passed(30.0, requested=29.0, computed=50))
    assert sum(waits(recent).values()) == 2
    assert sum(waits(recent, "between").values()) == 1


def test_a_context_that_is_gone_or_of_an_earlier_engine_is_forgotten():
    first = passed(10.0, requested=9.0, computed=50)
    assert folded(first, ContextReleased("p", 1)).drawn == {}
    assert folded(first, EngineStarted("m", "market", 1, 16)).drawn == {}
    asked = ProcessLaunched("p", "ada", "openai", asked_seconds=8.0)
    assert folded(asked, ProcessReturned("p", "")).asked == {}


def test_a_window_holds_its_minutes_and_memory_a_quarter_of_an_hour():
    figures = Figures()
    for slot in range(3 * SLOTS):
        figures.observe(passed(float(slot), context=slot, computed=50), NOW - slot * 0 + slot * SLOT_SECONDS)
    recent = figures.recent()
    end = NOW + (3 * SLOTS - 1) * SLOT_SECONDS
    assert len(recent.slots) == SLOTS
    assert [sum(recent.window(end, minutes).first.values()) for minutes in (1, 5, 15)] == [6, 30, 90]
    assert not recent.window(end + 900, 15).first


def test_prompts_count_by_where_their_tokens_came_from():
    event = PassCompleted(
        "p",
        1,
        64,
        40,
        1,
        replayed_tokens=12,
        restored_tokens=4,
        loaded_tokens=16,
        reread_tokens=32,
        following=2,
        miss="m",
        miss_reason="new",
    )
    window = folded(event, passed(1.0)).window(NOW, 1)
    assert (window.from_memory, window.from_disk, window.replayed, window.computed) == (48, 48, 8, 30)
    assert window.misses == {"new": 1}


def test_drafts_and_steps_ahead_count_what_was_kept():
    drafted = passed(1.0, guessed_tokens=4, guessed_right=3)
    ticks = TickCompleted(1, 2, 2, 0, 0.1, ahead=True, dropped=1), TickCompleted(2, 5, 5, 0, 0.1)
    window = folded(drafted, *ticks).window(NOW, 1)
    assert (window.drafted, window.accepted, window.kept, window.dropped) == (4, 3, 2, 1)


def test_what_was_told_never_changes_and_goes_on_elsewhere():
    first = folded(passed(10.0, requested=9.0, computed=50))
    sent = msgspec.convert(msgspec.json.decode(msgspec.json.encode(first)), Recent, strict=False)
    later = folded(passed(10.5), before=sent)
    assert sum(waits(first, "between").values()) == 0
    assert sum(waits(later, "between").values()) == 1
    assert waits(later) == waits(first)
