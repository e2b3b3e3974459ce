"""Page operations of a program, through the engine."""

import asyncio

import pytest

from inferlet import Context, Sampler, sync
from pie_mlx.calls import ReleaseContext
from pie_mlx.errors import (
    ContextLengthError,
    ContextReleasedError,
    InvalidArgumentError,
    KvCapacityError,
    OutOfPagesError,
    PageBoundsError,
    PageCommitError,
)
from tests.engine.running import Running, engine_alone


def counters(context: Context) -> tuple[int, int, int]:
    raw = context.inner()
    return raw.committed_page_count(), raw.working_page_count(), raw.working_page_token_count()


async def run_uncommitted(context: Context, tokens: list[int]) -> None:
    await context.forward().input(tokens).defer_commit().execute()


async def test_full_pages_commit_one_by_one(engine: Running) -> None:  # T1
    context = Context(engine.model)
    assert counters(context) == (0, 0, 0)
    context.inner().reserve_working_pages(2)
    await run_uncommitted(context, engine.prompt(32, seed=80))
    assert counters(context) == (0, 2, 32)
    context.inner().commit_working_pages(1)
    assert counters(context) == (1, 1, 16)
    context.inner().commit_working_pages(1)
    assert counters(context) == (2, 0, 0)


async def test_a_deferred_commit_leaves_tokens_that_are_cached_uncommitted_too(engine: Running) -> None:  # K5, P10
    tokens = engine.prompt(40, seed=81)
    await Context(engine.model).append(tokens).flush()
    context = Context(engine.model)
    await run_uncommitted(context, tokens)
    assert counters(context) == (0, 3, 40)
    context.truncate(35)
    assert context.seq_len == 5


async def test_a_refused_commit_changes_nothing(engine: Running) -> None:  # T2
    context = Context(engine.model)
    await run_uncommitted(context, engine.prompt(20, seed=2))
    raw = context.inner()
    raw.commit_working_pages(0)
    with pytest.raises(PageBoundsError):
        raw.commit_working_pages(3)
    with pytest.raises(PageCommitError):
        raw.commit_working_pages(2)
    assert counters(context) == (0, 2, 20)
    raw.commit_working_pages(1)
    assert counters(context) == (1, 1, 4)


async def test_committed_positions_must_rise(engine: Running) -> None:  # T3
    context = Context(engine.model)
    context.append(engine.prompt(32))
    await context.flush()
    page = engine.prompt(16, seed=1)
    await context.forward().input_at(page, range(31, 47)).execute()
    assert counters(context) == (2, 1, 16)
    with pytest.raises(PageCommitError):
        context.inner().commit_working_pages(1)
    context.truncate(16)
    await context.forward().input_at(page, range(100, 116)).execute()
    assert counters(context) == (3, 0, 0)


def test_reserved_pages_can_be_released(engine: Running) -> None:  # T4
    raw = Context(engine.model).inner()
    raw.reserve_working_pages(2)
    raw.reserve_working_pages(3)
    assert raw.working_page_count() == 5
    raw.release_working_pages(5)
    with pytest.raises(PageBoundsError):
        raw.release_working_pages(1)


async def test_truncation_keeps_the_pages(engine: Running) -> None:  # T5
    context = Context(engine.model)
    context.append(engine.prompt(5))
    await context.flush()
    context.truncate(3)
    assert counters(context) == (0, 1, 2)
    context.truncate(0)
    with pytest.raises(PageBoundsError):
        context.truncate(6)
    assert counters(context) == (0, 1, 2)


async def test_working_tokens_are_all_of_them_while_commits_are_deferred(engine: Running) -> None:  # P9
    context = Context(engine.model)
    await run_uncommitted(context, engine.prompt(40, seed=5))
    assert counters(context) == (0, 3, 40)
    context.inner().commit_working_pages(2)
    assert counters(context) == (2, 1, 8)


async def test_nothing_a_program_can_call_takes_a_committed_page_away(engine: Running) -> None:  # P8
    context = Context(engine.model).append(engine.prompt(40, seed=6))
    await context.flush()
    expected = await engine.greedy(context.fork().append([50]), 6)
    raw = context.inner()
    for call in (
        lambda: raw.release_working_pages(2),
        lambda: raw.truncate_working_page_tokens(9),
        lambda: raw.commit_working_pages(-1),
        lambda: raw.release_working_pages(-1),
        lambda: raw.truncate_working_page_tokens(-1),
    ):
        with pytest.raises((PageBoundsError, InvalidArgumentError)):
            call()
    assert counters(context) == (2, 1, 8)
    raw.release_working_pages(1)
    assert counters(context) == (2, 0, 0)
    assert await engine.greedy(context.append([*engine.prompt(40, seed=6)[32:], 50]), 6) == expected


async def test_a_pass_by_hand_that_does_not_fit_its_pages_appends_nothing(engine: Running) -> None:  # T6, F12
    def by_hand() -> None:
        context = sync.Context(engine.model)
        context.inner().reserve_working_pages(1)
        forward = sync.ForwardPass(engine.model).context(context).input_tokens(engine.prompt(20), range(20))
        forward.sampler([19], sync.Sampler.greedy())
        with pytest.raises(KvCapacityError):
            forward.execute()
        assert counters(context.asynchronous) == (0, 1, 0)
        context.inner().reserve_working_pages(1)
        assert len(forward.execute()) == 1
        assert counters(context.asynchronous) == (0, 2, 20)

    await asyncio.to_thread(by_hand)


async def test_a_flush_fills_and_commits_pages_once(engine: Running) -> None:  # T7
    context = Context(engine.model)
    context.append(engine.prompt(64, seed=3))
    await context.flush()
    await context.flush()
    assert counters(context) == (4, 0, 0)
    assert context.buffer() == []


async def test_a_fork_shares_pages_and_copies_the_tail(engine: Running) -> None:  # T10
    context = Context(engine.model)
    context.append(engine.prompt(37, seed=4))
    await context.flush()
    context.append([50])
    used = engine.used_pages()
    child = context.fork()
    assert counters(child) == counters(context) == (2, 1, 5)
    assert child.buffer() == [50]
    assert engine.used_pages() == used + 1


async def test_what_happens_to_a_fork_does_not_show_in_its_parent(engine: Running) -> None:  # P13, T10
    alone = Context(engine.model)
    alone.append(engine.prompt(37, seed=5))
    expected = await engine.greedy(alone, 12)
    parent = Context(engine.model)
    parent.append(engine.prompt(37, seed=5)[:-1])
    await parent.flush()
    child = parent.fork()
    child.append(engine.prompt(20, seed=6))
    await child.flush()
    parent.append(engine.prompt(37, seed=5)[-1:])
    assert await engine.greedy(parent, 12) == expected


async def test_more_pages_than_the_pool_are_refused_at_once(engine: Running) -> None:  # T26
    context = Context(engine.model)
    with pytest.raises(OutOfPagesError) as caught:
        context.inner().reserve_working_pages(257)
    assert (caught.value.needed, caught.value.capacity) == (257, 256)


async def test_a_prompt_longer_than_the_model_is_refused_and_stays_in_the_buffer(engine: Running) -> None:  # E3
    context = Context(engine.model)
    used = engine.used_pages()
    tokens = engine.prompt(257 * 16)
    context.append(tokens)
    with pytest.raises(ContextLengthError, match="context: 4112 tokens are more than this model reads: at most 4096"):
        await context.flush()
    assert context.buffer() == tokens
    assert engine.used_pages() == used


def test_a_released_context_is_refused(engine: Running) -> None:  # P15
    context = Context(engine.model)
    context.release()
    context.release()
    for use in (lambda: context.append([1]), context.fork, lambda: context.truncate(1), context.forward):
        with pytest.raises(ContextReleasedError):
            use()


async def test_leaving_with_releases_the_pages(engine: Running) -> None:  # P15
    used = engine.used_pages()
    with Context(engine.model) as context:
        context.append(engine.prompt(40))
        await context.flush()
        assert engine.used_pages() > used
    assert engine.used_pages() == used


async def test_dropping_the_last_handle_releases_the_pages(engine: Running) -> None:  # P15
    used = engine.used_pages()
    context = Context(engine.model)
    context.append(engine.prompt(40))
    await context.flush()
    generator = context.generate(Sampler.argmax(), max_tokens=2)
    del context
    assert engine.used_pages() > used
    await generator.collect_tokens()
    del generator
    assert engine.used_pages() == used


async def test_a_context_let_go_of_during_its_pass_is_released_with_its_program() -> None:  # P15, E7
    with engine_alone(total_pages=256) as engine:
        with engine.process() as host:
            context = Context(engine.model)
            context.append(engine.prompt(1500))
            flush = asyncio.ensure_future(context.flush())
            await asyncio.sleep(0)  # its pass is on the way
            host.post(ReleaseContext(context.id))
            await asyncio.sleep(0)  # so is this
        await asyncio.gather(flush, return_exceptions=True)
        assert engine.used_pages() == 0
