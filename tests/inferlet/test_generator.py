"""Generation, step by step and collected."""

import asyncio

import msgspec
import pytest

from inferlet import Adapter, Context, Distribution, Entropy, Generator, Logprob, Model, Output, Sampler
from inferlet._calls.host import use_host
from pie_mlx import calls
from pie_mlx.errors import (
    BatchFailedError,
    ContextBusyError,
    ContextLengthError,
    InvalidArgumentError,
    InvalidTypeError,
    StepConsumedError,
)
from tests.inferlet.toy_host import ToyHost
from tests.inferlet.toy_language import BOT, END, EOS, STOPS, encode

ARGMAX = Sampler.argmax()


async def outputs(generator: Generator) -> list[Output]:
    return [await step.execute() async for step in generator]


async def test_a_reply_ends_at_the_models_stop_token(ctx: Context) -> None:  # G2, G5
    generator = ctx.user("hi").generate(ARGMAX)
    assert await generator.collect_tokens() == encode("hello")
    assert (generator.is_done, generator.finish_reason, generator.tokens_generated) == (True, "stop", 5)
    assert ctx.buffer() == []
    assert ctx.seq_len == len(encode("<s><user>hi<end><bot>hello"))


async def test_text_is_what_a_chat_decoder_shows(ctx: Context) -> None:  # G11, T42
    assert await ctx.user("hi").fork().generate(ARGMAX).collect_text() == "hello"
    assert await ctx.fork().generate(ARGMAX, max_tokens=3).collect_text() == "hel"
    assert await ctx.fork().generate(ARGMAX, max_tokens=0).collect_text() == ""
    assert await ctx.generate(ARGMAX, stop=encode("x"), max_tokens=7).collect_text() == "hello"


async def test_every_step_is_one_message(host: ToyHost, ctx: Context) -> None:  # design 3
    generator = ctx.user("hi").generate(ARGMAX)
    before = len(host.log)
    steps = await outputs(generator)
    assert len(host.log) - before == len(steps) == 6
    assert all(isinstance(message, calls.Forward) for message in host.log[before:])


async def test_the_first_step_takes_the_whole_buffer(host: ToyHost, ctx: Context) -> None:  # G3
    prompt = ctx.user("hi").cue().buffer()
    await ctx.generate(ARGMAX, auto_flush=False, max_tokens=2).collect_tokens()
    first, second = host.sent(calls.Forward)
    assert (first.pending, first.tokens) == ([], prompt)
    assert [slot.index for slot in first.slots] == [len(prompt) - 1]
    assert second.tokens == encode("h")


async def test_drained_tokens_travel_with_the_first_step(host: ToyHost, ctx: Context) -> None:  # F1
    ctx.append([7, 8]).forward()
    await ctx.append([9]).generate(ARGMAX, auto_flush=False, max_tokens=1).collect_tokens()
    (message,) = host.sent(calls.Forward)
    assert (message.pending, message.tokens) == ([7, 8], [9])


async def test_no_tokens_means_no_pass(host: ToyHost, ctx: Context) -> None:  # T42, G4
    generator = ctx.user("hi").generate(ARGMAX, max_tokens=0)
    assert await generator.collect_tokens() == []
    assert generator.finish_reason == "length"
    assert host.sent(calls.Forward) == []


async def test_the_limit_leaves_the_last_token_in_the_buffer(ctx: Context) -> None:  # T42, G5
    prompt = len(ctx.user("hi").cue().buffer())
    generator = ctx.generate(ARGMAX, max_tokens=5, auto_flush=False)
    assert await generator.collect_tokens() == encode("hello")
    assert generator.finish_reason == "length"
    assert ctx.buffer() == encode("o")
    assert ctx.seq_len == prompt + 4


async def test_a_stop_token_is_neither_emitted_nor_buffered(ctx: Context) -> None:  # T43
    generator = ctx.user("hi").generate(ARGMAX, stop=encode("l"))
    assert await generator.collect_tokens() == encode("he")
    assert (ctx.buffer(), generator.finish_reason, generator.tokens_generated) == ([], "stop", 2)


async def test_stop_replaces_and_add_stop_extends(ctx: Context) -> None:  # T43, G1
    replaced = ctx.user("hi").fork().generate(ARGMAX, max_tokens=7).stop(encode("x"))
    assert END in await replaced.collect_tokens()
    extended = ctx.fork().generate(ARGMAX).add_stop(encode("l"))
    assert await extended.collect_tokens() == encode("he")
    both = ctx.fork().generate(ARGMAX).add_stop(encode("x"))
    assert await both.collect_tokens() == encode("hello")


async def test_without_auto_flush_there_is_neither_cue_nor_stop(ctx: Context) -> None:  # G2
    ctx.append(encode("a"))
    generator = ctx.generate(ARGMAX, auto_flush=False, max_tokens=3)
    assert ctx.buffer() == encode("a")
    assert await generator.collect_tokens() == encode("bcd")
    ctx.append([BOT])
    assert END in await ctx.generate(ARGMAX, auto_flush=False, max_tokens=8).collect_tokens()


def test_auto_flush_buffers_the_cue_at_once(ctx: Context) -> None:  # G2
    ctx.system("s").generate(ARGMAX)
    assert ctx.buffer() == encode("<s><sys>s<end><bot>")


async def test_a_text_that_was_stopped_does_not_go_on(host: ToyHost, ctx: Context) -> None:  # G6
    assert await ctx.user("hi").generate(ARGMAX).collect_tokens() == encode("hello")
    passes = len(host.sent(calls.Forward))
    for context in (ctx, ctx.fork()):
        generator = context.generate(ARGMAX, auto_flush=False)
        assert await generator.collect_tokens() == []
        assert generator.finish_reason == "empty"
    assert len(host.sent(calls.Forward)) == passes


async def test_where_no_token_is_pending_there_is_nothing_to_go_on_from(host: ToyHost, ctx: Context) -> None:  # G6
    with pytest.raises(InvalidArgumentError, match="no pending token"):
        await ctx.generate(ARGMAX, auto_flush=False).collect_text()
    await ctx.append([7]).flush()
    generator = ctx.generate(ARGMAX, auto_flush=False, max_tokens=2)
    with pytest.raises(InvalidArgumentError, match="no pending token") as refused:
        await generator.collect_text()
    assert "do not flush it" in refused.value.hint
    ctx.append(encode("a"))
    assert await generator.collect_tokens() == encode("bc")


async def test_a_step_whose_input_was_flushed_away_gives_nothing(ctx: Context) -> None:  # G6
    generator = ctx.append([7]).generate(ARGMAX, auto_flush=False)
    step = await anext(generator)
    await ctx.flush()
    output = await step.execute()
    assert (output.tokens, output.raw, output.auto_sampler) == ([], None, None)
    assert generator.finish_reason == "empty"


async def test_an_unexecuted_step_changes_nothing(ctx: Context) -> None:  # G8
    generator = ctx.user("hi").generate(ARGMAX)
    prompt = ctx.buffer()
    await anext(generator)
    assert ctx.buffer() == prompt
    assert await generator.collect_tokens() == encode("hello")


async def test_a_loop_that_executes_nothing_is_told_the_line_to_write(ctx: Context) -> None:
    with pytest.raises(InvalidArgumentError, match="the last step was never executed") as refused:
        async for _ in ctx.user("hi").generate(ARGMAX):
            pass
    assert "output = await step.execute()" in refused.value.hint


async def test_tokens_that_are_accepted_take_the_place_of_a_step(ctx: Context) -> None:
    generator = ctx.user("hi").generate(ARGMAX, max_tokens=2)
    async for _ in generator:
        generator.accept(encode("a"))
    assert generator.tokens_generated == 2


async def test_a_step_may_be_executed_in_a_task_that_has_not_begun(ctx: Context) -> None:
    generator = ctx.user("hi").generate(ARGMAX)
    running = asyncio.ensure_future((await anext(generator)).execute())
    with pytest.raises(ContextBusyError):
        await anext(generator)
    await running


async def test_a_step_runs_once(ctx: Context) -> None:  # G8
    step = await anext(ctx.user("hi").generate(ARGMAX))
    await step.execute()
    with pytest.raises(StepConsumedError):
        await step.execute()


async def test_steps_run_one_after_the_other(ctx: Context) -> None:
    generator = ctx.user("hi").generate(ARGMAX)
    running = asyncio.ensure_future((await anext(generator)).execute())
    await asyncio.sleep(0)
    with pytest.raises(ContextBusyError):
        await anext(generator)
    assert (await running).tokens + (await (await anext(generator)).execute()).tokens == encode("he")


async def test_a_failed_step_can_be_repeated(host: ToyHost, ctx: Context) -> None:  # E3, E4
    generator = ctx.user("hi").generate(ARGMAX)
    prompt = ctx.buffer()
    step = await anext(generator)
    host.failure = BatchFailedError("batch: device error", cause="test")
    with pytest.raises(BatchFailedError):
        await step.execute()
    assert (ctx.buffer(), generator.tokens_generated, generator.is_done) == (prompt, 0, False)
    assert (await step.execute()).tokens == encode("h")
    assert await generator.collect_tokens() == encode("ello")


async def test_a_step_cancelled_before_it_starts_changes_nothing(host: ToyHost, ctx: Context) -> None:  # E5
    generator = ctx.user("hi").generate(ARGMAX)
    prompt = ctx.buffer()
    host.before = asyncio.Event()
    task = asyncio.ensure_future((await anext(generator)).execute())
    for _ in range(3):
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    host.before = None
    assert (ctx.buffer(), ctx.seq_len) == (prompt, 0)
    assert await generator.collect_tokens() == encode("hello")


async def test_a_step_cancelled_in_its_batch_keeps_its_input(host: ToyHost, ctx: Context) -> None:  # E5
    generator = ctx.user("hi").generate(ARGMAX)
    prompt = ctx.buffer()
    host.after = asyncio.Event()
    task = asyncio.ensure_future((await anext(generator)).execute())
    for _ in range(3):
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    host.after = None
    assert (ctx.buffer(), ctx.seq_len, generator.tokens_generated) == ([], len(prompt), 0)
    assert await generator.collect_tokens() == []


async def test_clear_sampler_and_accept_equal_a_normal_run(ctx: Context) -> None:  # T44, G7
    plain = await ctx.user("hi").fork().generate(ARGMAX).collect_tokens()
    generator = ctx.generate(ARGMAX)
    kept: list[int] = []
    async for step in generator:
        best = step.clear_sampler().probe(-1, Distribution(temperature=1.0, k=1))
        output = await step.execute()
        assert output.tokens == []
        assert output.auto_sampler is None
        kept += generator.accept((output.distribution(best) or ([], []))[0])
    assert kept == plain
    assert generator.finish_reason == "stop"


async def test_accept_cuts_at_stops_and_limits(ctx: Context) -> None:  # T44
    a, b = encode("ab")
    stopped = ctx.user("hi").fork().generate(ARGMAX)
    assert stopped.accept([]) == []
    assert stopped.accept([a, END, b]) == [a]
    assert stopped.finish_reason == "stop"
    assert stopped.accept([b]) == []
    limited = ctx.generate(ARGMAX, max_tokens=2)
    assert limited.accept([a, b, a]) == [a, b]
    assert limited.finish_reason == "length"
    assert ctx.buffer()[-2:] == [a, b]


async def test_nothing_accepted_ends_with_an_empty_buffer(ctx: Context) -> None:  # G6, G7
    generator = ctx.user("hi").generate(ARGMAX)
    async for step in generator:
        await step.clear_sampler().execute()
    assert generator.finish_reason == "empty"


async def test_probes_of_each_step_stay_readable(ctx: Context) -> None:  # G9
    generator = ctx.user("hi").generate(ARGMAX, max_tokens=3)
    last = generator.probe_each_step(-1, Entropy())
    third = generator.probe_each_step(2, Logprob(0))
    steps = await outputs(generator)
    assert [output.entropy(last) is not None for output in steps] == [True, True, True]
    assert [output.logprobs(third) is not None for output in steps] == [True, False, False]


async def test_probes_of_each_step_work_without_a_sampler(ctx: Context) -> None:  # G9
    generator = ctx.user("hi").generate(ARGMAX)
    probe = generator.probe_each_step(-1, Entropy())
    output = await (await anext(generator)).clear_sampler().execute()
    assert output.entropy(probe) is not None


async def test_a_probe_of_one_step_counts_in_its_input(ctx: Context) -> None:
    generator = ctx.append(encode("ab")).generate(ARGMAX, auto_flush=False)
    step = await anext(generator)
    first = step.probe(0, Distribution(temperature=1.0, k=1))
    output = await step.execute()
    assert output.distribution(first) is not None
    assert output.token(output.auto_sampler) == encode("c")[0]  # pyright: ignore[reportArgumentType]
    step = await anext(generator)
    step.probe(1, Entropy())
    with pytest.raises(InvalidArgumentError):
        await step.execute()
    assert ctx.buffer() == encode("c")


async def test_a_static_mask_holds_in_every_step(ctx: Context) -> None:  # G1
    only = encode("z")[0]
    generator = ctx.user("hi").generate(ARGMAX, logit_mask=[only, 1], max_tokens=3)
    assert await generator.collect_tokens() == [only] * 3


async def test_the_models_maximum_ends_the_generator(host: ToyHost) -> None:  # G4
    host.maximum_positions = 12
    with use_host(host):
        ctx = Context(Model.load("toy"))
    generator = ctx.append(encode("a")).generate(ARGMAX, auto_flush=False)
    assert len(await generator.collect_tokens()) == 12
    assert generator.finish_reason == "length"
    assert ctx.seq_len == 12
    too_long = ctx.append(encode("ab"))
    with pytest.raises(ContextLengthError):
        await too_long.generate(ARGMAX, auto_flush=False).collect_tokens()


async def test_a_raised_limit_continues(ctx: Context) -> None:
    generator = ctx.user("hi").generate(ARGMAX, max_tokens=2)
    assert await generator.collect_tokens() == encode("he")
    assert not generator.max_tokens(None).is_done
    assert await generator.collect_tokens() == encode("llo")


async def test_a_following_turn_continues_after_a_stop(ctx: Context) -> None:  # G5
    await ctx.user("hi").generate(ARGMAX).collect_tokens()
    ctx.seal().user("and?")
    assert await ctx.generate(ARGMAX).collect_tokens() == encode("hello")


async def test_branches_generate_on_their_own(ctx: Context) -> None:
    await ctx.user("hi").flush()
    children = [ctx.fork() for _ in range(3)]
    replies = await asyncio.gather(*(child.generate(ARGMAX).collect_tokens() for child in children))
    assert replies == [encode("hello")] * 3


@pytest.mark.parametrize(
    "options",
    [
        {"zo_seed": 1 << 63},
        {"max_tokens": -1},
        {"horizon": -1},
        {"stop": [100_000]},
    ],
)
def test_bad_options_are_refused_by_name(ctx: Context, options: dict[str, object]) -> None:  # G4
    with pytest.raises(InvalidArgumentError, match=next(iter(options)) if "stop" not in options else "100000"):
        ctx.generate(ARGMAX, **options)  # pyright: ignore[reportArgumentType]
    assert ctx.buffer() == []


@pytest.mark.parametrize("limit", [2**64, 10**400])
async def test_a_limit_that_no_text_comes_to_is_none(host: ToyHost, ctx: Context, limit: int) -> None:  # G4
    generator = ctx.user("hi").generate(ARGMAX, max_tokens=limit, horizon=limit)
    assert await generator.collect_tokens() == encode("hello")
    assert msgspec.msgpack.encode(host.sent(calls.Forward))


def test_two_ways_to_speculate_exclude_each_other(ctx: Context) -> None:  # V1, T38
    with pytest.raises(ValueError, match="exclude"):
        ctx.generate(ARGMAX, speculator=object(), system_speculation=True)  # pyright: ignore[reportArgumentType]


def test_only_an_adapter_is_an_adapter(ctx: Context) -> None:
    with pytest.raises(InvalidTypeError, match="adapter"):
        ctx.generate(ARGMAX, adapter=object())  # pyright: ignore[reportArgumentType]
    with pytest.raises(InvalidTypeError, match="adapter"):
        ctx.generate(ARGMAX).adapter(object())  # pyright: ignore[reportArgumentType]


async def test_every_step_has_the_adapter_and_the_seed(host: ToyHost, ctx: Context) -> None:  # F10, G1
    adapter = Adapter(ctx.model, calls.AdapterState(7, "style"))
    await ctx.user("hi").generate(ARGMAX, max_tokens=3).adapter(adapter).zo_seed(5).collect_tokens()
    assert [(sent.adapter, sent.zo_seed) for sent in host.sent(calls.Forward)] == [(7, 5)] * 3


def test_a_generator_draws_one_token_at_a_time(ctx: Context) -> None:  # L3
    with pytest.raises(InvalidArgumentError):
        ctx.generate(Sampler.multinomial(draws=2))
    with pytest.raises(InvalidTypeError):
        ctx.generate(Entropy())  # pyright: ignore[reportArgumentType]


def test_the_toy_language_has_two_stop_tokens(ctx: Context) -> None:
    assert ctx.model.info.formats.stop_tokens == STOPS == [END, EOS]


async def test_what_a_debugger_shows_says_how_far_a_generation_is(ctx: Context) -> None:
    generator = ctx.user("hi").generate(ARGMAX, max_tokens=3)
    assert repr(ctx) == f"Context(1, 0 tokens in KV, {len(ctx.buffer())} buffered)"
    prompt = len(ctx.buffer())
    step = await anext(generator)
    assert repr(generator) == "Generator(0 of 3 tokens, step not executed)"
    assert repr(step) == "GenStep(not executed, up to 1 tokens, 0 probes)"
    output = await step.execute()
    assert repr(output) == f"Output(tokens={encode('h')}, 1 results)"
    assert repr(step) == "GenStep(executed, up to 1 tokens, 0 probes)"
    assert repr(generator) == "Generator(1 of 3 tokens, goes on)"
    assert repr(ctx) == f"Context(1, {prompt} tokens in KV, 1 buffered)"
    ctx.release()
    assert repr(ctx).endswith(", released)")
