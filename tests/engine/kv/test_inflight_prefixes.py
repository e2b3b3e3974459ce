"""Who waits for whom when two passes lack the same page."""

import asyncio

import pytest

from pie_mlx.engine.kv import WorkingToken
from pie_mlx.engine.kv.inflight_prefixes import InflightPrefixes

KEY = b"page"
INPUTS = [WorkingToken(token, token) for token in range(40)]


def always(context: int) -> bool:
    return True


async def test_nobody_waits_for_what_nobody_computes() -> None:
    prefixes = InflightPrefixes()
    assert not await prefixes.wait(KEY, INPUTS, always)
    assert not await prefixes.wait(None, INPUTS, always)
    with prefixes.computing(None, 1, INPUTS):
        assert not await prefixes.wait(KEY, INPUTS, always)


async def test_a_page_is_waited_for_until_its_pass_is_over() -> None:  # K5
    prefixes = InflightPrefixes()
    with prefixes.computing(KEY, 1, INPUTS):
        waiting = asyncio.create_task(prefixes.wait(KEY, INPUTS, always))
        await asyncio.sleep(0)
        assert not waiting.done()
    assert await waiting
    assert not await prefixes.wait(KEY, INPUTS, always)


async def test_a_second_pass_with_the_same_page_leaves_it_to_the_first() -> None:
    prefixes = InflightPrefixes()
    with prefixes.computing(KEY, 1, INPUTS):
        with prefixes.computing(KEY, 2, INPUTS):
            pass
        waiting = asyncio.create_task(prefixes.wait(KEY, INPUTS, always))
        await asyncio.sleep(0)
        assert not waiting.done()
    assert await waiting


async def test_nobody_waits_for_a_pass_whose_context_is_suspended() -> None:
    prefixes, suspended = InflightPrefixes(), False
    with prefixes.computing(KEY, 1, INPUTS):
        waiting = asyncio.create_task(prefixes.wait(KEY, INPUTS, lambda context: not suspended))
        await asyncio.sleep(0)
        suspended = True
        assert await waiting
        assert not await prefixes.wait(KEY, INPUTS, lambda context: not suspended)


@pytest.mark.parametrize(("more", "waits"), [(0, True), (20, True), (40, True), (41, False), (400, False)])
async def test_nobody_waits_for_much_that_is_not_wanted(more: int, waits: bool) -> None:
    prefixes = InflightPrefixes()
    longer = [*INPUTS, *(WorkingToken(7, 40 + place) for place in range(more))]
    with prefixes.computing(KEY, 1, longer):
        waiting = asyncio.create_task(prefixes.wait(KEY, [*INPUTS, WorkingToken(8, 40)], always))
        await asyncio.sleep(0)
        assert waiting.done() != waits
    assert await waiting == waits
