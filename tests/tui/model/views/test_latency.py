"""Waits for tokens, and replies by phase."""

from pie_mlx.events import ContextReleased, ContextSuspended, PassCompleted, PromptProgressed, WaitChanged
from pie_mlx.tui.model.views.latency import heat_of, latency_windows, request_rows
from tests.tui.stream import CREATED, LAUNCHED, STARTED, after

BEGUN = (STARTED, LAUNCHED, CREATED)


def passed(completed, computed=1, *, requested=0.0, started=0.0, attached=0, **more):
    return PassCompleted("p", 1, attached, computed, 1, 0, requested, completed, started_seconds=started, **more)


PROMPT = passed(110.0, 300, requested=100.0, started=104.0, attached=100)


def test_a_prompt_half_way_through_says_so():
    (row,) = request_rows(after(*BEGUN, PromptProgressed(1, 10_000, 20_000)))
    assert (row.phase, row.read, row.prompt_tokens) == ("prompt", 0.5, 20_000)


def test_a_prompt_that_was_read_is_no_longer_half_way_through():
    (row,) = request_rows(after(*BEGUN, PromptProgressed(1, 200, 400), PROMPT, step=0.1))
    assert row.phase == "decode"


def test_a_reply_has_its_phases_and_its_tokens():
    (row,) = request_rows(after(*BEGUN, PROMPT, passed(112.0), passed(116.0, following=1), step=0.1))
    assert (row.queued, row.prompt, row.first_token) == (4.0, 6.0, 10.0)
    assert (row.prompt_tokens, row.cached_tokens, row.tokens, row.per_token) == (400, 100, 4, 2.0)


def test_a_context_that_waits_before_its_first_token_is_queued_and_says_why():
    waits = WaitChanged(1, "outbid", "waiting: bid 0.1 < price 0.2")
    (row,) = request_rows(after(*BEGUN, waits, WaitChanged(1, "outbid", "waiting: bid 0.1 < price 0.3")))
    assert (row.phase, row.reason, row.waited) == ("queued", "waiting: bid 0.1 < price 0.3", 1.0)


def test_a_context_that_has_read_and_is_suspended_is_queued_once_it_asks_again():
    flushed = PassCompleted("p", 1, 0, 300, 0, 0, 100.0, 110.0)
    suspended = ContextSuspended(1, 2, "outbid", "suspended: bid 0.1 < bid 0.2")
    assert request_rows(after(*BEGUN, flushed, suspended, step=0.1)) == []
    asks = WaitChanged(1, "outbid", "suspended: bid 0.1 < bid 0.2")
    assert [row.phase for row in request_rows(after(*BEGUN, flushed, suspended, asks, step=0.1))] == ["queued"]
    assert [row.phase for row in request_rows(after(*BEGUN, suspended))] == ["queued"]


def test_a_wait_counts_for_the_reply_that_it_delayed():
    waits = WaitChanged(1, "outbid", "waiting: for pages"), WaitChanged(1)
    (row,) = request_rows(after(*BEGUN, *waits, PROMPT, *waits, passed(111.0), passed(111.5), step=0.25))
    assert (row.waited, row.reason) == (0.5, "waiting: for pages")


def test_replies_that_are_over_come_last_and_latest_first():
    again = passed(130.0, 40, requested=129.0)
    rows = request_rows(after(*BEGUN, PROMPT, again, ContextReleased("p", 1), step=0.1))
    assert [(row.phase, row.prompt_tokens) for row in rows] == [("done", 40), ("done", 400)]


def test_a_reply_whose_beginning_was_missed_is_not_made_up():
    state = after(*BEGUN, PROMPT, step=0.1)
    assert len(request_rows(state)) == 1
    assert request_rows(after(*BEGUN[:2], passed(1.0))) == []


def test_windows_count_tokens_and_their_percentiles():
    windows = latency_windows(after(*BEGUN, PROMPT, passed(112.0), step=0.1))
    assert [window.minutes for window in windows] == [1, 5, 15]
    assert all((window.first_token.count, window.between_tokens.count) == (1, 1) for window in windows)
    assert abs(windows[0].first_token.p99 - 10.0) < 0.5


def test_the_heat_of_waits_stands_at_its_duration_and_time():
    heat = heat_of(after(*BEGUN, PROMPT, passed(110.1), passed(112.1), step=0.1), "between", columns=6, rows=4)
    assert len(heat.counts) <= 4
    assert [row[-1] for row in heat.counts if row[-1]] == [1, 1]
    assert heat.counts[0][-1] == 1
    assert heat.tops == tuple(sorted(heat.tops, reverse=True))
    assert sum(map(sum, heat.counts)) == 2


def test_no_waits_give_no_heat():
    assert heat_of(after(*BEGUN), "first", 10, 5).counts == ()
