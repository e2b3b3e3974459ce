import json

import msgspec
import pytest

from pie_mlx.events import (
    AccountMovement,
    ContextCreated,
    MarketSettled,
    PagesDropped,
    PagesLoaded,
    PagesStored,
    PassCompleted,
    ProcessLaunched,
    ProcessMessage,
    ProcessReturned,
    TickCompleted,
)
from pie_mlx.runtime.registry import User
from pie_mlx.server.watching.engine_totals import EngineTotals
from pie_mlx.server.watching.feed import Feed, Watcher
from tests.server.speaking import speak

ADA, BOB, ADMIN = User("ada"), User("bob"), User("root", admin=True)
LAUNCHED = ProcessLaunched("p", "ada", "a@1.0.0")
TICK = TickCompleted(1, 3, 20, 0, 0.5)


def frames(watcher):
    found = []
    while (frame := watcher.next_frame()) is not None:
        found.append(msgspec.msgpack.decode(frame))
    return found


def seen(feed, user, **options):
    return [(frame["sequence"], frame["kind"]) for frame in frames(Watcher(feed, user, 0, **options))]


def filled(*events, **options):
    feed = Feed(lambda: 1.0, **options)
    for event in events:
        feed.publish(event)
    return feed


def test_a_user_sees_own_processes_and_totals_an_admin_all():
    feed = filled(LAUNCHED, ProcessMessage("p", "secret"), ContextCreated("p", 7, account=3), TICK)
    assert [kind for _, kind in seen(feed, ADA)] == [
        "process_launched",
        "process_message",
        "context_created",
        "tick_completed",
    ]
    assert seen(feed, BOB) == [(4, "tick_completed")]
    assert len(seen(feed, ADMIN)) == 4  # 1.9


def test_the_last_event_of_a_process_is_still_its_owner_s():
    assert seen(filled(LAUNCHED, ProcessReturned("p", "")), ADA) == [(1, "process_launched"), (2, "process_returned")]


def test_pages_on_disk_are_counted():
    totals = EngineTotals()
    stored, loaded = (PagesStored(3, 1000), PagesStored(1, 500)), (PagesLoaded(4, 2000, 0.1), PagesLoaded(2, 1000, 0.1))
    for event in (*stored, *loaded, PagesDropped(2), PagesDropped(1)):
        totals.observe(event)
    assert (totals.stored_pages, totals.stored_bytes) == (4, 1500)
    assert (totals.loaded_pages, totals.dropped_pages) == (6, 3)


def test_a_settlement_shows_own_accounts_only():
    settled = MarketSettled(1, 2.0, (AccountMovement(3, 1, 0, 0, 9.0), AccountMovement(4, 1, 0, 0, 8.0)))
    feed = filled(LAUNCHED, ContextCreated("p", 7, account=3), settled)
    (frame,) = frames(Watcher(feed, ADA, 2))
    assert [movement["account"] for movement in json.loads(frame["data"])["movements"]] == [3]
    (frame,) = frames(Watcher(feed, BOB, 2))
    assert json.loads(frame["data"])["movements"] == []
    assert json.loads(frame["data"])["price"] == 2.0


def test_kinds_can_be_chosen():
    assert seen(filled(LAUNCHED, TICK), ADMIN, kinds={"tick_completed"}) == [(2, "tick_completed")]


def test_who_falls_behind_is_told_how_far():
    feed = filled(*[TICK] * 10, kept=4)
    found = frames(Watcher(feed, ADMIN, 2))
    assert (found[0]["kind"], found[0]["data"], found[0]["sequence"]) == ("gap", '{"missed":4}', 6)
    assert [frame["sequence"] for frame in found[1:]] == [7, 8, 9, 10]  # 1.9


def test_the_oldest_go_when_the_events_are_too_large_together():
    feed = filled(*[ProcessMessage("p", "x" * 10_000)] * 10, kept_bytes=32_000)
    found = frames(Watcher(feed, ADMIN, 2))
    assert (found[0]["kind"], found[0]["data"], found[0]["sequence"]) == ("gap", '{"missed":5}', 7)
    assert [frame["sequence"] for frame in found[1:]] == [8, 9, 10]


def test_the_last_event_is_kept_however_large():
    feed = filled(TICK, ProcessMessage("p", "x" * 10_000), kept_bytes=1)
    assert seen(feed, ADMIN) == [(1, "gap"), (2, "process_message")]


def test_totals_are_folded():
    board = EngineTotals()
    for event in (TICK, TickCompleted(2, 200, 1, 0, 1.5), LAUNCHED):
        board.observe(event)
    status = board.model_status("m")
    assert status["m.total_batches"] == 2
    assert status["m.batch_size_hist"] == [0, 1, 0, 0, 0, 0, 0, 1]
    assert status["m.max_forward_requests_observed"] == 200
    assert status["m.avg_batch_latency_us"] == 1_000_000


def test_the_engines_own_drafts_are_counted_by_place():
    board = EngineTotals()
    for guessed, right in ((4, 2), (2, 2), (0, 0)):
        board.observe(PassCompleted("p", 7, 0, 1 + guessed, 1, guessed_tokens=guessed, guessed_right=right))
    status = board.model_status("m")
    assert status["m.system_spec_draft_tokens_proposed"] == 6
    assert status["m.system_spec_draft_tokens_accepted"] == 4
    assert status["m.system_spec_draft_tokens_proposed_per_pos"] == [2, 2, 1, 1]
    assert status["m.system_spec_draft_tokens_accepted_per_pos"] == [2, 2]


def test_tokens_that_a_grammar_forced_are_counted():
    board = EngineTotals()
    for forced in (3, 0, 2):
        board.observe(PassCompleted("p", 7, 0, 1 + forced, 1, forced_tokens=forced))
    assert board.model_status("m")["m.grammar_forced_tokens"] == 5


async def follow(speaker, until):
    found = []
    while not found or found[-1]["kind"] != until:
        found.append(await speaker.event())
    return found


@pytest.mark.timeout(30)
async def test_a_watcher_gets_a_snapshot_and_then_every_event(server):
    async with await speak(server, "ada") as ada, await speak(server, "watcher") as other:
        snapshot = await ada.json("watch_events")
        await other.json("watch_events")
        process = await ada.launch({"do": "generate"}, capture_outputs=False)
        found = await follow(ada, "process_returned")
        numbers = [frame["sequence"] for frame in found]
        assert numbers == sorted(numbers)
        assert numbers[0] > snapshot["sequence"]
        assert snapshot["state"]["pages"]["total"] > 0
        assert snapshot["state"]["page_size"] > 0
        kinds = [frame["kind"] for frame in found]
        assert kinds.index("process_launched") < kinds.index("context_created") < kinds.index("pass_completed")
        assert json.loads(found[-1]["data"])["process"] == process
        assert await ada.ask("unwatch_events") == (True, "Events are no longer sent")
        own = await other.launch({"do": "who"}, capture_outputs=False)
        seen = await follow(other, "process_returned")
        assert {json.loads(frame["data"]).get("process", own) for frame in seen} == {own}


@pytest.mark.timeout(30)
async def test_a_watcher_can_go_on_where_it_stopped(server):
    async with await speak(server, unix=True) as root:
        await root.events(await root.launch({"do": "generate"}))
        await root.json("watch_events", since=0, kinds=["engine_started"])
        assert (await root.event())["kind"] in ("engine_started", "gap")
        ok, _ = await root.ask("watch_events", since=-1)
        assert not ok
