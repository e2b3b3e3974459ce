"""Contexts: filling, flushing, forking, snapshots, release."""

import asyncio
import gc

import pytest

from inferlet import Context, Model, Sampler, chat
from pie_mlx import calls
from pie_mlx.errors import (
    BatchFailedError,
    ContextBusyError,
    ContextReleasedError,
    InvalidArgumentError,
    InvalidTypeError,
    OutOfPagesError,
    PageBoundsError,
    SnapshotNotFoundError,
)
from tests.inferlet.toy_host import ToyHost
from tests.inferlet.toy_language import encode


def test_turns_are_rendered_into_the_buffer(ctx: Context) -> None:  # D1
    ctx.user("hi").cue()
    assert ctx.buffer() == encode("<s><user>hi<end><bot>")
    assert ctx.seq_len == 0


def test_a_system_turn_waits_for_the_first_user_turn(ctx: Context) -> None:
    assert ctx.system("be brief").buffer() == []
    assert ctx.user("hi").buffer() == encode("<s><sys>be brief<end><user>hi<end>")


def test_cue_gives_out_what_was_held_back(ctx: Context) -> None:
    assert ctx.system("be brief").cue().buffer() == encode("<s><sys>be brief<end><bot>")


def test_raw_tokens_go_after_what_was_held_back(ctx: Context) -> None:
    assert ctx.system("x").append(encode("y")).buffer() == encode("<s><sys>x<end>y")


def test_a_conversation_after_raw_tokens_has_begun(ctx: Context) -> None:  # D1
    assert ctx.append(encode("<s>")).user("x").buffer() == encode("<s><user>x<end>")


def test_only_a_text_that_begins_the_sequence_begins_it(ctx: Context, host: ToyHost) -> None:
    assert ctx.append("a b").append("c").buffer() == [*encode("a b"), *encode("c")]
    assert [sent.begins for sent in host.sent(calls.Encode)] == [True, False]


async def test_a_text_after_tokens_or_a_turn_begins_nothing(model: Model, host: ToyHost) -> None:
    Context(model).append(encode("a")).append("b")
    Context(model).system("s").append("b")
    flushed = Context(model).append(encode("a"))
    await flushed.flush()
    flushed.append("b")
    assert [sent.begins for sent in host.sent(calls.Encode)] == [False] * 3


async def test_flush_computes_what_was_held_back(ctx: Context) -> None:
    await ctx.system("be brief").flush()
    assert ctx.seq_len == len(encode("<s><sys>be brief<end>"))


def test_tools_and_their_results_are_turns(ctx: Context) -> None:
    ctx.equip_tools([{"name": "f"}]).user("x").answer_tool("f", {"ok": True})
    assert ctx.buffer() == encode('<s><sys>{"name": "f"}<end><user>x<end><tool>f={"ok": true}<end>')


def test_the_tokens_of_a_turn_are_written_where_the_conversation_stands(ctx: Context) -> None:
    ctx.append(chat.system(ctx.model, "s")).append(chat.user(ctx.model, "x")).append(chat.cue(ctx.model))
    assert ctx.buffer() == encode("<s><sys>s<end><user>x<end><bot>")
    assert ctx.append(list(chat.user(ctx.model, "y"))).buffer()[-3:] == encode("<user>y<end>")


def test_messages_are_text(ctx: Context) -> None:
    for fill in (ctx.system, ctx.user, ctx.assistant, ctx.model.tokenizer().encode):
        with pytest.raises(InvalidTypeError):
            fill(3)  # pyright: ignore[reportArgumentType]


def test_tokens_outside_the_vocabulary_are_refused(ctx: Context) -> None:  # F5
    with pytest.raises(InvalidArgumentError, match="100000"):
        ctx.append([1, 100_000])
    with pytest.raises(InvalidTypeError):
        ctx.append(3)  # pyright: ignore[reportArgumentType]
    assert ctx.buffer() == []


async def test_flush_runs_one_pass_and_commits_full_pages(host: ToyHost, ctx: Context) -> None:  # T7
    ctx.append(range(7, 71))
    await ctx.flush()
    await ctx.flush()
    assert len(host.sent(calls.Forward)) == 1
    raw = ctx.inner()
    assert (raw.committed_page_count(), raw.working_page_count(), raw.working_page_token_count()) == (4, 0, 0)
    assert ctx.buffer() == []
    assert ctx.seq_len == 64


async def test_flush_sends_only_pending_tokens(host: ToyHost, ctx: Context) -> None:
    await ctx.append([7, 8]).flush()
    (message,) = host.sent(calls.Forward)
    assert (message.pending, message.tokens, message.slots) == ([7, 8], [], [])


async def test_a_failed_flush_leaves_the_buffer(host: ToyHost, ctx: Context) -> None:  # E3
    host.failure = BatchFailedError("batch: device error", cause="test")
    ctx.append([7, 8])
    with pytest.raises(BatchFailedError):
        await ctx.flush()
    assert (ctx.buffer(), ctx.seq_len) == ([7, 8], 0)
    await ctx.flush()
    assert (ctx.buffer(), ctx.seq_len) == ([], 2)


async def test_more_than_the_pool_holds_is_an_error(host: ToyHost, ctx: Context) -> None:  # P4
    host.pages = 2
    ctx.append([7] * 33)
    with pytest.raises(OutOfPagesError):
        await ctx.flush()
    assert len(ctx.buffer()) == 33


async def test_a_flush_cancelled_before_it_starts_changes_nothing(host: ToyHost, ctx: Context) -> None:  # E5
    host.before = asyncio.Event()
    task = asyncio.ensure_future(ctx.append([7, 8]).flush())
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    ctx.append([9])
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (ctx.buffer(), ctx.seq_len) == ([7, 8, 9], 0)


async def test_a_flush_cancelled_in_its_batch_keeps_its_tokens(host: ToyHost, ctx: Context) -> None:  # E5
    host.after = asyncio.Event()
    task = asyncio.ensure_future(ctx.append([7, 8]).flush())
    for _ in range(3):
        await asyncio.sleep(0)
    ctx.append([9])
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (ctx.seq_len, ctx.buffer()) == (2, [9])


async def given_up(host: ToyHost, ctx: Context, *passes: list[int], runs: int, step: int = 1) -> None:
    """Send the passes off together and cancel them, from first to last or back; the one in place `runs` was in a
    batch."""
    host.after = asyncio.Event()
    tasks: list[asyncio.Future[None]] = []
    for place, tokens in enumerate(passes):
        host.before = None if place == runs else asyncio.Event()
        tasks.append(asyncio.ensure_future(ctx.append(tokens).flush()))
        for _ in range(3):
            await asyncio.sleep(0)
    for task in tasks[::step]:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    host.before = host.after = None


@pytest.mark.parametrize("step", [1, -1])
@pytest.mark.parametrize(
    ("passes", "runs"),
    [(([7] * 9, [8]), 0), (([7], [8] * 9), 0), (([7], [8]), 0), (([7] * 9, [8]), 1), (([7], [8] * 9), 1)],
)
async def test_of_several_flushes_that_were_cancelled_those_that_ran_keep_their_tokens(  # E5, P3
    host: ToyHost, ctx: Context, passes: tuple[list[int], list[int]], runs: int, step: int
) -> None:
    await given_up(host, ctx, *passes, runs=runs, step=step)
    assert (ctx.seq_len, ctx.buffer()) == (len(passes[runs]), passes[1 - runs])
    (context,) = host.contexts.values()
    assert context.tokens == passes[runs]


@pytest.mark.parametrize("step", [1, -1])
async def test_flushes_that_were_cancelled_before_they_started_give_their_tokens_back_in_order(  # E5
    host: ToyHost, ctx: Context, step: int
) -> None:
    await given_up(host, ctx, [7, 8], [9], [10], runs=3, step=step)
    assert (ctx.seq_len, ctx.buffer()) == (0, [7, 8, 9, 10])


async def test_a_late_answer_does_not_overwrite_newer_counters(host: ToyHost, ctx: Context) -> None:  # P3
    host.after = asyncio.Event()
    task = asyncio.ensure_future(ctx.append([7, 8, 9]).flush())
    for _ in range(3):
        await asyncio.sleep(0)
    ctx.truncate(1)
    host.after.set()
    await task
    assert ctx.seq_len == 2


async def test_truncate_forgets_working_tokens(ctx: Context) -> None:  # T5
    await ctx.append(range(7, 12)).flush()
    ctx.truncate(3)
    assert ctx.seq_len == 2
    with pytest.raises(PageBoundsError):
        ctx.truncate(6)
    assert ctx.seq_len == 2


async def test_a_fork_has_the_same_tokens_and_buffer(host: ToyHost, ctx: Context) -> None:  # T10
    await ctx.append(range(7, 41)).flush()
    child = ctx.append([5, 6]).fork()
    child.append([7])
    assert (ctx.buffer(), child.buffer(), child.seq_len) == ([5, 6], [5, 6, 7], 34)
    assert (child.inner().committed_page_count(), child.inner().working_page_token_count()) == (2, 2)
    await child.flush()
    assert (ctx.seq_len, child.seq_len) == (34, 37)


def test_a_fork_continues_the_conversation(ctx: Context) -> None:
    child = ctx.system("s").fork()
    assert child.user("x").buffer() == encode("<s><sys>s<end><user>x<end>")


async def test_snapshots_are_opened_and_taken(ctx: Context, model: Model) -> None:  # T13
    await ctx.append([7, 8]).flush()
    ctx.save("a")
    await ctx.append([9]).flush()
    ctx.save("a")
    first, second = Context.open(model, "a"), Context.open(model, "a")
    assert first is not None
    assert second is not None
    assert first.seq_len == second.seq_len == 3
    assert Context.take(model, "a") is not None
    assert Context.open(model, "a") is None
    assert Context.take(model, "a") is None
    with pytest.raises(SnapshotNotFoundError):
        Context.delete(model, "a")


def test_snapshots_carry_the_buffer_and_the_conversation(ctx: Context, model: Model) -> None:  # T14, N1
    ctx.system("s").save("a")
    ctx.user("x").save("b")
    held, buffered = Context.open(model, "a"), Context.open(model, "b")
    assert held is not None
    assert buffered is not None
    assert buffered.buffer() == held.user("x").buffer() == ctx.buffer()


def test_snapshot_names_are_generated_on_demand(ctx: Context, model: Model) -> None:  # N3
    name = ctx.snapshot()
    assert name.startswith("__snapshot_")
    Context.delete(model, name)


@pytest.mark.parametrize("name", ["", "x" * 257, "__snapshot_1"])
def test_bad_snapshot_names_are_refused(ctx: Context, name: str) -> None:  # N1
    with pytest.raises(InvalidArgumentError):
        ctx.save(name)


def test_release_is_idempotent_and_final(host: ToyHost, ctx: Context) -> None:  # P15
    ctx.release()
    ctx.release()
    assert host.contexts == {}
    assert len(host.sent(calls.ReleaseContext)) == 1
    for use in (ctx.buffer, ctx.fork, ctx.forward, ctx.suspend, lambda: ctx.append([7]), lambda: ctx.seq_len):
        with pytest.raises(ContextReleasedError):
            use()
    with pytest.raises(ContextReleasedError):
        ctx.generate(Sampler.argmax())


async def test_a_released_context_runs_nothing(ctx: Context) -> None:  # P15
    forward = ctx.forward().input([7])
    generator = ctx.append([7]).generate(Sampler.argmax())
    ctx.release()
    with pytest.raises(ContextReleasedError):
        await forward.execute()
    with pytest.raises(ContextReleasedError):
        await generator.collect_tokens()
    with pytest.raises(ContextReleasedError):
        await ctx.flush()


def test_leaving_with_releases(host: ToyHost, model: Model) -> None:  # P15
    with Context(model) as ctx:
        assert ctx.id in host.contexts
    assert host.contexts == {}


def test_the_last_handle_releases(host: ToyHost, model: Model) -> None:  # P15
    ctx = Context(model)
    raw = ctx.inner()
    del ctx
    assert len(host.contexts) == 1
    del raw
    assert host.contexts == {}


async def test_live_passes_keep_their_context(host: ToyHost, model: Model) -> None:  # P15
    forward = Context(model).forward()
    step = await anext(Context(model).append([7]).generate(Sampler.argmax(), auto_flush=False))
    assert len(host.contexts) == 2
    await forward.input([7]).execute()
    assert (await step.execute()).tokens == [8]
    del forward, step
    assert host.contexts == {}


def test_a_context_in_a_cycle_is_released_with_the_next_message(host: ToyHost, model: Model) -> None:  # P15
    ring: list[object] = [Context(model)]
    ring.append(ring)
    del ring
    gc.collect()
    assert len(host.contexts) == 1
    model.tokenizer().split_regex()
    assert host.contexts == {}


def test_suspend_refuses_a_busy_context(host: ToyHost, ctx: Context) -> None:  # R2
    ctx.suspend()
    host.busy = True
    with pytest.raises(ContextBusyError):
        ctx.suspend()


def test_context_tells_its_model_and_page_size(ctx: Context, model: Model) -> None:
    assert ctx.model is model
    assert ctx.page_size == 16
