"""Programs that compete for the pages of a small pool: everybody finishes, and no credit is made or lost."""

import asyncio
import math
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from inferlet import Context, Sampler, scheduling
from pie_mlx import calls
from pie_mlx.engine import inspection
from pie_mlx.engine.inspection import context_statuses
from pie_mlx.engine.kv import PageStore, WorkingToken
from pie_mlx.engine.market import imbalance_credits
from pie_mlx.engine.paging.page_io import PageIO
from pie_mlx.engine.policies import ReasonKind
from pie_mlx.engine.scheduler.live_context import LiveContext
from pie_mlx.engine.scheduler.reports import TickReports
from pie_mlx.engine.scheduler.restoring import Restorer
from pie_mlx.engine.scheduler.tick_state import TickState
from pie_mlx.errors import ContextBusyError, InvalidArgumentError, TokenBudgetError
from pie_mlx.events import (
    AccountJoined,
    AccountLeft,
    ContextRestored,
    ContextRestoring,
    ContextSuspended,
    MarketSettled,
    TickCompleted,
    WaitChanged,
)
from tests.engine.running import Running, finished, running
from tests.untimed import untimed

AnEvent = TypeVar("AnEvent")

POOL_PAGES = 16
LONGEST_CONTEXT_TOKENS = 12 * 16

Step = tuple[str, int]
"""A verb and a number to go with it."""

VERBS = ("write", "generate", "fork", "idle", "bid", "suspend", "save", "open", "release", "reserve", "cancel")
HINTS = ("retain", "prepay", "expect", "demote", "prefetch")
STEPS = st.lists(st.tuples(st.sampled_from(VERBS + HINTS), st.integers(0, 40)), min_size=2, max_size=7)
PROGRAMS = st.lists(STEPS, min_size=2, max_size=6)


class Program:
    """Does random steps on the newest of its contexts."""

    def __init__(self, engine: Running, seed: int) -> None:
        self.engine, self.seed = engine, seed
        self.contexts: list[Context] = []

    async def run(self, steps: list[Step]) -> None:
        with self.engine.process():
            self.contexts = [Context(self.engine.model)]
            await self.write(20)
            for verb, number in steps:
                await getattr(self, verb)(number)
                await asyncio.sleep(0)
            await self.generate(3)

    @property
    def context(self) -> Context:
        return self.contexts[-1]

    def fits(self, tokens: int) -> bool:
        return self.context.seq_len + len(self.context.buffer()) + tokens <= LONGEST_CONTEXT_TOKENS

    async def write(self, number: int) -> None:
        if self.fits(number):
            self.context.append(self.engine.prompt(number, self.seed))
            await self.context.flush()

    async def generate(self, number: int) -> None:
        """Each step with another bid, 0 among them."""
        if not self.fits(number % 8 + 1):
            return
        self.context.append([50])
        generator = self.context.generate(Sampler.argmax(), max_tokens=number % 8 + 1, stop=[], auto_flush=False)
        self.context.set_bid(number % 3)
        async for step in generator:
            await step.execute()
            self.context.set_bid((self.context.seq_len * 7 + self.seed) % 5 / 2)

    async def fork(self, number: int) -> None:
        self.contexts.append(self.context.fork())
        await self.write(number % 5)

    async def idle(self, number: int) -> None:
        with self.context.idle():
            for _ in range(number):
                await asyncio.sleep(0)

    async def bid(self, number: int) -> None:
        self.context.set_bid(max(0, number - 10) * 10)

    async def suspend(self, number: int) -> None:
        with suppress(ContextBusyError):  # a cancelled pass may still be in its batch
            self.context.suspend()

    async def retain(self, number: int) -> None:
        self.context.retain(priority=number * 20, ttl_seconds=number * 100)

    async def prepay(self, number: int) -> None:
        self.context.retain(priority=number / 10, ttl_seconds=number * 100, prepaid=True)

    async def expect(self, number: int) -> None:
        with self.context.idle(number / 10):
            await asyncio.sleep(0)

    async def demote(self, number: int) -> None:
        self.context.demote()

    async def prefetch(self, number: int) -> None:
        await self.context.prefetch()

    async def save(self, number: int) -> None:
        self.context.save(f"{self.seed}-{number % 2}")

    async def open(self, number: int) -> None:
        opened = Context.open(self.engine.model, f"{self.seed}-{number % 2}")
        if opened is not None:
            self.contexts.append(opened)

    async def release(self, number: int) -> None:
        self.contexts.pop().release()
        if not self.contexts:
            self.contexts.append(Context(self.engine.model))

    async def reserve(self, number: int) -> None:
        if self.fits(32):
            self.context.inner().reserve_working_pages(number % 3)

    async def cancel(self, number: int) -> None:
        """A flush that is given up after some turns of the loop."""
        if not self.fits(number):
            return
        self.context.append(self.engine.prompt(number, self.seed + 1))
        flushing = asyncio.create_task(self.context.flush())
        for _ in range(number % 4):
            await asyncio.sleep(0)
        flushing.cancel()
        await asyncio.gather(flushing, return_exceptions=True)


@pytest.fixture(scope="module", params=["market", "fcfs", "priority"])
def contested(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A small pool without a model, short chunks, and a spill file too small for everything."""
    with running(
        dummy=True,
        policy=request.param,
        total_pages=POOL_PAGES,
        default_endowment_pages=8,
        prefill_chunk_tokens=24,
        max_batch_contexts=4,
        aging_window_ticks=8,
        spill_directory=str(tmp_path_factory.mktemp("spill")),
        spill_max_bytes=24,
    ) as started:
        yield started


@settings(max_examples=15)
@given(programs=PROGRAMS)
def test_whatever_programs_do_they_finish_and_the_books_balance(  # M13, Q7, T29
    contested: Running, programs: list[list[Step]]
) -> None:
    asyncio.run(all_of(contested, programs))
    assert contested.used_pages() == 0
    contested.check_books()
    accounting = contested.core.services.accounting
    assert len(accounting.ledger.accounts) == 1
    assert imbalance_credits(accounting.ledger) == pytest.approx(0.0, abs=1e-6)


async def all_of(engine: Running, programs: list[list[Step]]) -> None:
    async with asyncio.timeout(30):
        await asyncio.gather(*(Program(engine, seed).run(steps) for seed, steps in enumerate(programs)))


# What the market tells.


@pytest.fixture
def small() -> Iterator[Running]:
    with running(dummy=True, policy="market", total_pages=POOL_PAGES) as started:
        yield started


def events_of(engine: Running, kind: type[AnEvent]) -> list[AnEvent]:
    return [event for event in engine.events if isinstance(event, kind)]


async def hold(engine: Running, tokens: int, seed: int, bid: float) -> Context:
    """A context of `tokens` tokens and what it bids from then on."""
    context = Context(engine.model)
    context.append(engine.prompt(tokens, seed))
    await context.flush()
    context.set_bid(bid)
    return context


async def test_who_is_outbid_is_told_why_and_by_whom(small: Running) -> None:
    poor = await hold(small, 160, seed=1, bid=1.0)
    rich = Context(small.model)
    rich.set_bid(5.0)
    rich.append(small.prompt(160, 2))
    await rich.flush()
    suspended = events_of(small, ContextSuspended)[0]
    assert (suspended.context, suspended.for_context, suspended.reason) == (poor.id, rich.id, ReasonKind.OUTBID)
    assert suspended.text.startswith("suspended: bid 1.00 < ")
    reason = small.core.services.queue.reason(poor.id)
    assert reason is not None
    assert reason.kind is ReasonKind.OUTBID
    rich.release()
    poor.append([50])
    await poor.flush()
    assert events_of(small, ContextRestored)[-1].context == poor.id
    (restoring,) = events_of(small, ContextRestoring)
    assert (restoring.context, restoring.replayed_tokens > 0) == (poor.id, True)
    assert untimed(events_of(small, WaitChanged)[-1]) == WaitChanged(poor.id)
    assert small.core.services.queue.reason(poor.id) is None


async def test_a_program_that_suspends_its_context_is_an_event_once(small: Running) -> None:  # R2
    context = await hold(small, 20, seed=1, bid=1.0)
    context.suspend()
    context.suspend()
    assert [event.reason for event in events_of(small, ContextSuspended)] == ["requested"]


async def test_a_bid_from_outside_holds_until_the_next_step_bids_anew(small: Running) -> None:  # B2
    context = Context(small.model)
    context.append(small.prompt(20, 1))
    generator = context.generate(Sampler.argmax(), max_tokens=3)
    await (await anext(generator)).execute()
    finished(small.core.consult(lambda services: inspection.set_bid(services, small.host.process_id, 900.0)))
    assert bids(small) == [900.0]
    await (await anext(generator)).execute()
    assert 0 < bids(small)[0] < 900.0


def bids(engine: Running) -> list[float]:
    return [status.bid for status in finished(engine.core.consult(inspection.context_statuses))]


async def test_without_contention_no_program_pays_rent(small: Running) -> None:  # M7, T17
    programs = (Program(small, seed).run([("write", 30), ("generate", 5), ("fork", 3)]) for seed in range(3))
    await asyncio.gather(*programs)
    settled = events_of(small, MarketSettled)
    assert settled
    assert all(event.price == 0.0 for event in settled)
    assert all(movement.rent == 0.0 for event in settled for movement in event.movements)
    assert len(settled) < len(events_of(small, TickCompleted))


async def bid_of(engine: Running, context: Context) -> float:
    (found,) = [one for one in await engine.core.consult(context_statuses) if one.context == context.id]
    return found.bid


@pytest.mark.parametrize("figures", [(math.nan, 1.0), (100.0, math.inf), (-1.0, 1.0)])
async def test_no_call_bids_on_what_is_no_number(small: Running, figures: tuple[float, float]) -> None:  # B4, M8, E3
    context = await hold(small, 20, seed=1, bid=2.5)
    for call in (calls.Rebid(context.id, *figures), calls.Forward(context.id, [50], horizon=figures)):
        with pytest.raises(InvalidArgumentError, match="horizon"):
            small.host.call(call)
    assert await bid_of(small, context) == 2.5
    assert context.seq_len == 20


async def test_a_pass_that_is_refused_leaves_the_bid(small: Running) -> None:  # E3, B4
    context = await hold(small, 20, seed=1, bid=2.5)
    with pytest.raises(InvalidArgumentError, match="vocabulary"):
        await small.host.call(calls.Forward(context.id, [10**9], horizon=(10.0, 1.0)))
    assert await bid_of(small, context) == 2.5
    assert context.seq_len == 20


@pytest.mark.parametrize("bid", [1e6, sys.float_info.max], ids=str)
async def test_a_bid_may_exceed_the_balance_and_one_of_0_is_served(small: Running, bid: float) -> None:  # B3
    with small.process(token_budget=2000):
        contexts = [Context(small.model) for _ in range(5)]
        for number, context in enumerate(contexts):
            assert context.set_bid(bid if number % 2 else 0.0) == (bid if number % 2 else 0.0)
            context.append(small.prompt(100, number))
        await asyncio.gather(*(context.flush() for context in contexts))
        assert [context.seq_len for context in contexts] == [100] * 5
    assert imbalance_credits(small.core.services.accounting.ledger) == pytest.approx(0.0, abs=1e-6)


async def test_credits_buy_no_tokens(small: Running) -> None:  # M4
    with small.process(token_budget=40):
        context = Context(small.model).append(small.prompt(40, 1))
        await context.flush()
        with pytest.raises(TokenBudgetError) as raised:
            await context.append([50]).flush()
        assert (raised.value.needed, raised.value.remaining) == (1, 0)
        assert scheduling.balance(small.model) > 0


async def test_who_has_no_credits_spends_its_tokens_all_the_same(small: Running) -> None:  # M4
    with small.process(token_budget=40):
        accounting = small.core.services.accounting
        number = max(accounting.ledger.accounts)
        poor = replace(accounting.ledger.accounts[number], balance=0.0)
        treasury = accounting.ledger.treasury + accounting.ledger.accounts[number].balance
        accounting.ledger = replace(
            accounting.ledger, accounts={**accounting.ledger.accounts, number: poor}, treasury=treasury
        )
        assert scheduling.balance(small.model) == 0
        context = Context(small.model).append(small.prompt(40, 1))
        await context.flush()
        assert context.seq_len == 40


async def test_movements_of_a_tick_cancel_out(contested: Running) -> None:  # M11, M13
    await all_of(contested, [[("generate", 7), ("write", 40), ("fork", 0), ("generate", 6)]] * 6)
    for event in events_of(contested, MarketSettled):
        moved = sum(item.dividend - item.rent - item.make_cost for item in event.movements)
        assert moved == pytest.approx(0.0, abs=1e-6)


async def test_joining_and_leaving_are_events_and_debts_stay_in_the_treasury(small: Running) -> None:  # M12
    with small.process(token_budget=40) as host:
        context = await hold(small, 40, seed=1, bid=1.0)
        assert context.seq_len == 40
    joined, left = events_of(small, AccountJoined)[-1], events_of(small, AccountLeft)[-1]
    assert (joined.account, joined.endowment) == (left.account, 3.0)
    assert left.balance < joined.endowment
    assert left.treasury == pytest.approx(left.balance - joined.endowment)
    assert imbalance_credits(small.core.services.accounting.ledger) == pytest.approx(0.0, abs=1e-6)
    assert host.process_id not in small.core.services.processes


# Whatever ends while it waits.


async def test_a_cancelled_wait_for_pages_leaves_no_trace(small: Running) -> None:  # E5
    holder = await hold(small, 240, seed=1, bid=9.0)
    context = Context(small.model)
    context.append(small.prompt(100, 2))
    waiting = asyncio.create_task(context.flush())
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    assert (context.seq_len, len(context.buffer())) in {(0, 100), (100, 0)}
    holder.release()
    await context.flush()
    assert context.seq_len == 100
    small.check_books()


async def test_a_context_can_be_released_while_it_is_being_restored(small: Running) -> None:
    context = await hold(small, 200, seed=1, bid=1.0)
    context.suspend()
    with Context(small.model) as other:
        other.inner().reserve_working_pages(POOL_PAGES)
    context.append([50])
    flushing = asyncio.create_task(context.flush())
    await asyncio.sleep(0)
    flushing.cancel()
    context.release()
    await asyncio.gather(flushing, return_exceptions=True)
    assert (await hold(small, 200, seed=2, bid=0.0)).seq_len == 200


def off_pool_context(store: PageStore) -> int:
    context = store.create()
    store.working.reserve(context, 2)
    store.working.append(context, [WorkingToken(token, token) for token in range(20)])
    store.suspender.suspend(context)
    return context


async def test_a_restore_that_finds_no_pages_is_put_off(small: Running) -> None:
    store = PageStore(pages=2, page_size=16, identity=b"test")
    state, reports = TickState(store), TickReports(lambda event: None)
    runner = small.core.services.runner
    restorer = Restorer(state, PageIO(store, runner, None, lambda event: None), reports, runner.model.network)
    context = LiveContext(off_pool_context(store), account=1, stream=0)
    store.working.reserve(store.create(), 1)
    assert not restorer.begin(context)
    assert not store.contexts[context.id].resident
    store.check_integrity()
