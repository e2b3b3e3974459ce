"""What contexts bid."""

import math

import pytest

from inferlet import Context, Sampler
from pie_mlx.errors import BatchFailedError, ContextReleasedError, InvalidArgumentError
from tests.inferlet.toy_host import ToyHost

ARGMAX = Sampler.argmax()


def bids(host: ToyHost) -> list[tuple[str, float, float]]:
    """Kind, value and variation of all bids so far; forgets them."""
    made = [(kind, value, variation) for _, kind, value, variation in host.bids]
    host.bids.clear()
    return made


def test_a_bid_reads_back(ctx: Context) -> None:  # T22, B1
    assert ctx.set_bid(2.5) == 2.5
    assert ctx.set_bid(-1) == 0.0


@pytest.mark.parametrize("bid", [math.nan, math.inf, 10**400])
def test_bids_are_finite(host: ToyHost, ctx: Context, bid: float) -> None:  # T22, B1
    with pytest.raises(InvalidArgumentError):
        ctx.set_bid(bid)
    assert bids(host) == []


async def test_passes_by_hand_bid_for_an_unknown_length(host: ToyHost, ctx: Context) -> None:  # B2
    await ctx.append([7]).flush()
    await ctx.forward().input([7]).execute()
    assert bids(host) == [("auto", 4096.0, 1.0)] * 2


async def test_a_bid_by_hand_persists_over_passes_by_hand(host: ToyHost, ctx: Context) -> None:  # B2
    ctx.set_bid(3)
    await ctx.append([7]).flush()
    await ctx.forward().input([7]).execute()
    assert bids(host) == [("set", 3.0, 0.0)]


async def test_a_generator_primes_and_renews_its_bid(host: ToyHost, ctx: Context) -> None:  # T27, B6, B7
    await ctx.append([7]).generate(ARGMAX, max_tokens=3, auto_flush=False).collect_tokens()
    assert bids(host) == [("rebid", 3.0, 1.0), ("auto", 3.0, 1.0), ("auto", 2.0, 1.0), ("auto", 1.0, 1.0)]


async def test_a_horizon_shapes_the_bid(host: ToyHost, ctx: Context) -> None:  # B6
    generator = ctx.append([7]).generate(ARGMAX, max_tokens=3, horizon=2, auto_flush=False)
    await generator.collect_tokens()
    assert bids(host) == [("rebid", 2.0, 0.0), ("auto", 2.0, 0.0), ("auto", 1.0, 0.0), ("auto", 1.0, 0.0)]


async def test_without_limits_the_past_is_the_guess(host: ToyHost, ctx: Context) -> None:  # B6, B7
    generator = ctx.append([7]).generate(ARGMAX, auto_flush=False)
    for _ in range(66):
        await (await anext(generator)).execute()
    made = bids(host)
    assert (made[0], made[1], made[66]) == (("rebid", 4096.0, 1.0), ("auto", 64.0, 1.0), ("auto", 65.0, 1.0))


async def test_without_rebidding_only_changes_prime(host: ToyHost, ctx: Context) -> None:  # T27, B7
    generator = ctx.append([7]).generate(ARGMAX, auto_flush=False, rebid_each_step=False)
    await (await anext(generator)).execute()
    generator.max_tokens(5).horizon(9)
    await generator.collect_tokens()
    assert bids(host) == [("rebid", 4096.0, 1.0), ("rebid", 4.0, 1.0), ("rebid", 8.0, 0.0)]


async def test_a_bid_by_hand_holds_for_one_step(host: ToyHost, ctx: Context) -> None:  # T22, B2
    generator = ctx.append([7]).generate(ARGMAX, max_tokens=3, auto_flush=False)
    await (await anext(generator)).execute()
    ctx.set_bid(2.5)
    await generator.collect_tokens()
    assert bids(host) == [("rebid", 3.0, 1.0), ("auto", 3.0, 1.0), ("set", 2.5, 0.0), ("auto", 1.0, 1.0)]


async def test_the_automatic_bid_resumes_also_without_rebidding(host: ToyHost, ctx: Context) -> None:  # B2
    generator = ctx.append([7]).generate(ARGMAX, max_tokens=4, auto_flush=False, rebid_each_step=False)
    ctx.set_bid(2.5)
    await generator.collect_tokens()
    assert bids(host) == [("rebid", 4.0, 1.0), ("set", 2.5, 0.0), ("auto", 3.0, 1.0)]


async def test_a_failed_step_does_not_use_up_the_bid(host: ToyHost, ctx: Context) -> None:  # E3
    generator = ctx.append([7]).generate(ARGMAX, max_tokens=3, auto_flush=False)
    ctx.set_bid(2.5)
    host.failure = BatchFailedError("batch: device error", cause="test")
    with pytest.raises(BatchFailedError):
        await generator.collect_tokens()
    await (await anext(generator)).execute()
    assert bids(host) == [("rebid", 3.0, 1.0), ("set", 2.5, 0.0)]


async def test_a_generator_replaces_a_bid_by_hand(host: ToyHost, ctx: Context) -> None:  # B2
    ctx.set_bid(3)
    ctx.append([7]).generate(ARGMAX, max_tokens=1, auto_flush=False)
    await ctx.flush()
    assert bids(host) == [("set", 3.0, 0.0), ("rebid", 1.0, 1.0), ("auto", 4096.0, 1.0)]


async def test_idle_withholds_bids(host: ToyHost, ctx: Context) -> None:  # T27, B8
    generator = ctx.append([7]).generate(ARGMAX, max_tokens=3, auto_flush=False)
    with ctx.idle():
        await (await anext(generator)).execute()
        with ctx.idle():
            await (await anext(generator)).execute()
    await generator.collect_tokens()
    assert bids(host) == [("rebid", 3.0, 1.0), ("set", 0.0, 0.0), ("rebid", 4096.0, 1.0), ("auto", 1.0, 1.0)]


def test_idle_without_pages_leaves_a_bid_of_zero(host: ToyHost, ctx: Context) -> None:  # T27, B8
    with ctx.idle():
        pass
    assert bids(host) == [("set", 0.0, 0.0)]


def test_idle_brings_a_bid_by_hand_back(host: ToyHost, ctx: Context) -> None:  # T27, B8
    ctx.set_bid(3)
    with ctx.idle():
        assert ctx.set_bid(4) == 0.0
    assert bids(host) == [("set", 3.0, 0.0), ("set", 0.0, 0.0), ("set", 4.0, 0.0)]


def test_a_context_may_be_released_inside_idle(ctx: Context) -> None:  # P15
    with ctx.idle():
        ctx.release()
    with pytest.raises(ContextReleasedError):
        ctx.set_bid(1)
