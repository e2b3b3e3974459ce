"""The models of an engine as its events tell: which are in memory, and whose the pages and the credits are."""

import msgspec
import pytest

from pie_mlx.events import (
    AccountJoined,
    AccountLeft,
    AccountMovement,
    ContextCreated,
    ContextForked,
    ContextSuspended,
    EngineStarted,
    MarketSettled,
    MemoryChanged,
    ModelChanged,
    ModelProgressed,
    PagesCounted,
    PagesSpilled,
    PageUsage,
    ProcessLaunched,
    ProcessPages,
    TickCompleted,
)
from pie_mlx.tui.model.alerts import alert
from pie_mlx.tui.model.facts import NO_FACTS, Facts, ModelRow
from pie_mlx.tui.model.state import SAMPLE_SECONDS
from pie_mlx.tui.model.views.model_rows import model_rows
from pie_mlx.tui.model.views.order_book import order_book
from pie_mlx.tui.model.views.pool import held_pages
from pie_mlx.tui.model.views.program_row import program_rows
from tests.tui.stream import after

BEGUN = (
    ModelChanged("main", "unloaded", draft_model="router"),
    ModelChanged("router", "unloaded"),
    ModelChanged("main", "loading", draft_model="router"),
    EngineStarted("main", "market", 64, 16),
    ModelChanged("main", "loaded", size_bytes=8 << 30, total_pages=64, page_size=16, draft_model="router"),
)
ROUTER = (ModelChanged("router", "loading"), ModelChanged("router", "loaded", "", 1 << 30, 0.0, 24, 8))
BOTH = (
    *BEGUN,
    *ROUTER,
    ProcessLaunched("p", "ada", "chat@1.0.0"),
    AccountJoined(4, 64.0),
    AccountJoined(4, 24.0, model="router"),
    ContextCreated("p", 1, account=4),
    ContextCreated("p", 2, account=4, model="router"),
    ContextForked("p", 3, 2, 0, 4, model="router"),
    PagesCounted(PageUsage(64, 3, 0, 1), (ProcessPages("p", 3, 0),)),
    PagesCounted(PageUsage(24, 5, 2, 0), (ProcessPages("p", 5, 0),), model="router"),
    MarketSettled(1, 0.25, (AccountMovement(4, 1.0, 0.0, 0.0, 60.0, spent=1.0),)),
    MarketSettled(1, 0.75, (AccountMovement(4, 2.0, 0.0, 0.0, 20.0, spent=2.0),), model="router"),
)


def shown(state, model):
    return msgspec.structs.replace(state, shown=model)


@pytest.mark.parametrize(
    ("model", "figures"), [("", ("main", 3, 64, 0.25, 60.0)), ("router", ("router", 5, 24, 0.75, 20.0))]
)
def test_pages_prices_and_wallets_are_those_of_the_model_that_is_shown(model, figures):
    state = shown(after(*BOTH), model)
    told = state.pool.name, state.pages.used, state.pages.total, state.price, state.accounts[4].balance
    assert told == figures


def test_a_program_has_the_pages_and_the_credits_of_all_its_models():
    (row,) = program_rows(after(*BOTH))
    assert (row.own, row.balance, row.spent) == (8, 80.0, 3.0)


def test_bids_and_pages_by_owner_are_those_of_the_model_that_is_shown():
    state = after(*BOTH, ContextSuspended(2, 3, "market", "suspended: it makes way"))
    assert [demand.context for demand in order_book(state)] == [1]
    assert sum(held.pages for held in held_pages(state)) == 3
    router = shown(state, "router")
    assert [demand.context for demand in order_book(router)] == [2, 3]
    assert sum(held.pages for held in held_pages(router)) == 5
    assert state.evictions[0].model == "router"


def test_a_model_that_leaves_takes_its_pages_and_its_market_away():
    state = shown(after(*BOTH, ModelChanged("router", "unloading"), ModelChanged("router", "unloaded")), "router")
    assert (state.pool.state, state.pages.total, state.price, dict(state.accounts)) == ("unloaded", 0, 0.0, {})


def test_a_default_model_that_comes_back_has_pages_again_though_no_engine_started():
    again = ModelChanged("main", "loaded", size_bytes=8 << 30, total_pages=64, page_size=16)
    state = after(*BOTH, ModelChanged("main", "unloaded"), ModelChanged("main", "loading"), again)
    assert (state.pages.total, state.pages.used, set(state.contexts)) == (64, 0, {1, 2, 3})


def test_a_default_model_that_is_loaded_late_leaves_the_contexts_of_the_others():
    lazy = (ModelChanged("main", "unloaded"), *BEGUN[1:2], *ROUTER, *BOTH[7:8], BOTH[11])
    state = after(*lazy, ModelChanged("main", "loading"), EngineStarted("main", "market", 64, 16))
    assert set(state.contexts) == {2}
    assert list(state.pools) == ["main", "router"]


def test_a_new_engine_in_the_same_log_has_nothing_of_the_earlier_one():
    state = after(*BOTH, EngineStarted("other", "market", 8, 16))
    assert (list(state.pools), dict(state.contexts), state.pages.total) == (["other"], {}, 8)


def test_the_rows_of_models_need_no_server():
    rows = model_rows(after(*BOTH, ModelProgressed("third", 0.4)), NO_FACTS)
    assert [(row.name, row.state, row.progress, row.draft_model, row.processes) for row in rows] == [
        ("main", "loaded", None, "router", 1),
        ("router", "loaded", None, "", 1),
        ("third", "loading", 0.4, "", 0),
    ]
    assert [row.pages.used if row.pages else None for row in rows] == [3, 5, None]


def test_what_only_a_server_knows_of_a_model_is_added_while_events_agree():
    asked = ModelRow("router", "loaded", processes=7, expires_in_seconds=5.0)
    state = after(*BOTH)
    row = model_rows(state, Facts(models=(asked,)))[1]
    assert (row.processes, row.expires_in_seconds, row.size_bytes, row.price) == (7, 5.0, 1 << 30, 0.75)
    gone = after(*BOTH, ModelChanged("router", "unloaded"))
    assert model_rows(gone, Facts(models=(asked,)))[1].expires_in_seconds is None


def test_an_alert_is_about_the_model_with_the_highest_price_and_the_fewest_pages():
    state = after(*BOTH, MemoryChanged("warning", "short", 1, model="router"))
    assert alert("price>0").value(state) == 0.75
    assert alert("pages>0").value(state) == pytest.approx(100 * 5 / 24)
    assert alert("memory>0").value(state) == 1


def test_ticks_tokens_and_spilled_pages_are_counted_for_each_model():
    ticks = (
        TickCompleted(3, 1, 10, 0, 0.1, decoded_tokens=10),
        TickCompleted(7, 1, 2, 0, 0.1, decoded_tokens=2, model="router"),
        PagesSpilled(1, 6, model="router"),
    )
    state = after(*BOTH, *ticks, AccountLeft(4, 0.0, 2.5, model="router"), step=SAMPLE_SECONDS / 100)
    assert (state.ticks, state.tokens) == (10, 12)
    router = state.pools["router"]
    assert (router.spilled_pages, router.treasury, router.decoded, dict(router.accounts)) == (6, 2.5, 2, {})
