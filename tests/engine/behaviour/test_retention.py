"""Hints of programs: they propose, the market decides and charges."""

import asyncio
import contextlib
from collections.abc import Iterator

import pytest

from inferlet import Context
from inferlet.sync import Context as BlockingContext
from pie_mlx.engine.market import imbalance_credits
from pie_mlx.errors import PieError
from pie_mlx.events import ContextSuspended, MarketSettled
from tests.engine.running import Running, running

POOL_PAGES = 16


@pytest.fixture
def small() -> Iterator[Running]:
    with running(dummy=True, policy="market", total_pages=POOL_PAGES) as started:
        yield started


async def hold(engine: Running, tokens: int, seed: int) -> Context:
    """A context of `tokens` tokens that bids nothing from then on."""
    context = Context(engine.model)
    await context.append(engine.prompt(tokens, seed)).flush()
    context.set_bid(0.0)
    return context


def suspended(engine: Running) -> list[int]:
    return [event.context for event in engine.events if isinstance(event, ContextSuspended)]


def last_text(engine: Running) -> str:
    return [event for event in engine.events if isinstance(event, ContextSuspended)][-1].text


def clock_of(engine: Running) -> list[float]:
    """The pool's clock, held at a moment that the test moves."""
    pool, now = engine.store.pool, [1000.0]
    pool.clock = lambda: now[0]
    return now


async def test_of_two_idle_contexts_the_one_without_a_hint_goes(small: Running) -> None:
    kept, other = await hold(small, 96, seed=1), await hold(small, 96, seed=2)
    other.set_bid(1e-9)
    assert kept.retain(priority=1.0, ttl_seconds=60.0) == 60.0
    worker = await hold(small, 96, seed=3)
    assert suspended(small) == [other.id]
    assert worker.seq_len == 96


async def test_of_two_that_are_expected_back_the_later_one_goes(small: Running) -> None:
    soon, late = await hold(small, 96, seed=1), await hold(small, 96, seed=2)
    with soon.idle(2.0), late.idle(30.0):
        await hold(small, 96, seed=3)
    assert suspended(small) == [late.id]


async def test_the_reason_of_a_loss_names_the_hint_that_was_weighed(small: Running) -> None:
    clock_of(small)
    kept = await hold(small, 192, seed=1)
    kept.retain(priority=1e-6, ttl_seconds=60.0)
    await hold(small, 96, seed=2)
    assert suspended(small) == [kept.id]
    assert last_text(small).endswith("(retained at priority 1e-06 for 60 s more)")


async def test_nothing_is_retained_after_its_time_to_live(small: Running) -> None:
    now = clock_of(small)
    first, second = await hold(small, 96, seed=1), await hold(small, 96, seed=2)
    first.retain(priority=100.0, ttl_seconds=60.0)
    second.retain(priority=1.0, ttl_seconds=600.0)
    now[0] += 61.0
    await hold(small, 96, seed=3)
    assert suspended(small) == [first.id]


async def test_retained_pages_pay_rent_and_credits_are_only_moved(small: Running) -> None:
    accounting = small.core.services.accounting
    with small.process() as idle:
        kept = await hold(small, 160, seed=1)
        kept.retain(priority=1000.0, ttl_seconds=600.0)
        balance = accounting.ledger.accounts[small.core.services.processes[idle.process_id].account].balance
        with small.process():
            worker = Context(small.model)
            worker.set_bid(1e-3)
            for seed in range(3):
                await worker.append(small.prompt(32, seed)).flush()
            await hold(small, 96, seed=9)
        after = accounting.ledger.accounts[small.core.services.processes[idle.process_id].account].balance
        assert after != balance
        assert imbalance_credits(accounting.ledger) == pytest.approx(0.0, abs=1e-6)


async def test_a_retained_context_starves_nobody(small: Running) -> None:
    kept = await hold(small, 224, seed=1)
    kept.retain(priority=1000.0, ttl_seconds=3600.0)
    with small.process():
        worker = Context(small.model)
        worker.set_bid(0.0)
        await worker.append(small.prompt(160, 2)).flush()
        assert worker.seq_len == 160
    assert kept.id in suspended(small)


async def test_demoted_pages_are_reclaimed_before_older_ones(small: Running) -> None:
    old, new = await hold(small, 64, seed=1), await hold(small, 64, seed=2)
    old.release()
    new.demote()
    new.release()
    (await hold(small, 192, seed=3)).release()
    assert [await attached(small, 64, seed) for seed in (1, 2)] == [64, 0]


async def attached(engine: Running, tokens: int, seed: int) -> int:
    with Context(engine.model) as context:
        await context.append(engine.prompt(tokens, seed)).flush()
        return context.reuse.from_memory


async def test_pages_that_were_paid_for_are_kept_when_their_context_is_gone(small: Running) -> None:
    now = clock_of(small)
    with small.process():
        old, new = await hold(small, 64, seed=1), await hold(small, 64, seed=2)
        assert old.retain(ttl_seconds=300.0, prepaid=True) == pytest.approx(300.0)
        old.release()
        new.release()
    (await hold(small, 160, seed=3)).release()
    assert await attached(small, 64, seed=1) == 64
    now[0] += 301.0
    (await hold(small, 96, seed=4)).release()
    assert await attached(small, 64, seed=1) == 0


async def test_of_pages_that_were_paid_for_those_of_the_lower_priority_go_first(small: Running) -> None:  # B10
    clock_of(small)
    with small.process():
        dear, cheap = await hold(small, 64, seed=1), await hold(small, 64, seed=2)
        dear.retain(priority=2.0, ttl_seconds=60.0, prepaid=True)
        cheap.retain(ttl_seconds=60.0, prepaid=True)
        dear.release()
        cheap.release()
    (await hold(small, 192, seed=3)).release()
    assert [await attached(small, 64, seed) for seed in (1, 2)] == [64, 0]


async def test_credits_bound_what_is_paid_ahead(small: Running) -> None:
    clock_of(small)
    with small.process(token_budget=1024):
        context = await hold(small, 160, seed=1)
        balance = small.core.services.accounting.ledger.accounts[2].balance
        spent = small.core.services.accounting.ledger.accounts[2].spent
        assert context.retain(priority=100.0, ttl_seconds=300.0, prepaid=True) == pytest.approx(300.0 * balance / 1000)
        told = [event for event in small.events if isinstance(event, MarketSettled)][-1].movements
        accounts = small.core.services.accounting.ledger.accounts
        assert {moved.account: (moved.balance, moved.spent) for moved in told} == {
            number: (account.balance, account.spent) for number, account in accounts.items()
        }
        assert accounts[2].spent == spent + balance


async def test_a_suspended_context_is_prefetched_only_into_room_that_is_free(small: Running) -> None:
    away, other = await hold(small, 128, seed=1), await hold(small, 120, seed=2)
    away.suspend()
    assert await away.prefetch()
    away.suspend()
    more = await hold(small, 96, seed=3)
    assert not await away.prefetch()
    more.release()
    assert await away.prefetch()
    assert other.seq_len == 120


async def test_the_pages_of_a_snapshot_are_prefetched_before_it_is_opened(small: Running) -> None:
    (saved := await hold(small, 64, seed=1)).save("notes")
    saved.release()
    (await hold(small, 240, seed=2)).release()
    assert await Context.prefetch_saved(small.model, "notes")
    assert await attached(small, 64, seed=1) == 64
    assert not await Context.prefetch_saved(small.model, "other")


async def test_a_program_that_ends_takes_its_hints_along(small: Running) -> None:
    clock_of(small)
    accounting = small.core.services.accounting
    with small.process():
        retained, expected, away = [await hold(small, 64, seed) for seed in (1, 2, 3)]
        away.suspend()
        retained.retain(priority=1000.0, ttl_seconds=3600.0)
        expected.expect_return(600.0)
        assert await away.prefetch()
        assert len(accounting.ledger.accounts) == 2
    assert len(accounting.ledger.accounts) == 1
    assert small.used_pages() == 0
    assert (await hold(small, 240, seed=4)).seq_len == 240  # nothing is left that a bid would have to beat
    assert suspended(small) == [away.id]
    assert imbalance_credits(accounting.ledger) == pytest.approx(0.0, abs=1e-6)


async def test_what_a_program_paid_ahead_is_not_paid_again_once_it_ended(small: Running) -> None:
    now = clock_of(small)
    with small.process():
        (await hold(small, 64, seed=1)).retain(ttl_seconds=300.0, prepaid=True)
    accounting = small.core.services.accounting
    balances = {number: account.balance for number, account in accounting.ledger.accounts.items()}
    now[0] += 100.0
    (await hold(small, 32, seed=2)).release()
    assert await attached(small, 64, seed=1) == 64
    after = accounting.ledger.accounts
    assert {number: after[number].balance for number in balances} == pytest.approx(balances)
    assert imbalance_credits(accounting.ledger) == pytest.approx(0.0, abs=1e-6)


async def test_a_program_that_ends_while_it_prefetches_leaves_nothing(small: Running) -> None:
    with small.process() as other:
        away = await hold(small, 128, seed=1)
        away.suspend()
        with Context(small.model) as filler:
            filler.inner().reserve_working_pages(POOL_PAGES)
        prefetching = asyncio.create_task(away.prefetch())
        await asyncio.sleep(0)
    assert other.process_id not in small.core.services.processes
    with contextlib.suppress(asyncio.CancelledError, PieError):  # it may have been quicker
        await prefetching
    assert small.used_pages() == 0
    small.check_books()


def test_blocking_programs_give_the_same_hints(small: Running) -> None:
    clock_of(small)
    with BlockingContext(small.model) as context:
        context.fill_tokens(small.prompt(64, 1)).flush()
        context.save("blocking")
        assert context.retain(priority=2.0, ttl_seconds=1e9) == 3600.0
        context.expect_return(8.0)
        context.demote()
        assert context.prefetch()
    assert BlockingContext.prefetch_saved(small.model, "blocking")
