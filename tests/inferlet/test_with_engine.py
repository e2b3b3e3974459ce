"""The same rules on a real engine: pie-tiny on its pages."""

import asyncio
import dataclasses
import math
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
import pytest_asyncio

from inferlet import (
    Context,
    Distribution,
    Entropy,
    Grammar,
    JsonSchema,
    Logits,
    Logprobs,
    Matcher,
    Model,
    Regex,
    Sampler,
    brle,
    chat,
    runtime,
    scheduling,
)
from inferlet._calls.host import HostLink, current_host, use_host
from pie_mlx import Engine, calls
from pie_mlx.errors import (
    ContextBusyError,
    ContextReleasedError,
    EmptyMaskError,
    GrammarError,
    GrammarRejectedError,
    InvalidArgumentError,
    InvalidTypeError,
    ModelNotFoundError,
    OutOfPagesError,
    PageBoundsError,
    PageCommitError,
    SnapshotNotFoundError,
)

pytestmark = pytest.mark.asyncio(loop_scope="module")

ARGMAX = Sampler.argmax()
Program = Callable[[Model], Awaitable[Any]]
Run = Callable[[Program], Awaitable[Any]]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def engine() -> AsyncIterator[Engine]:
    async with Engine("pie-tiny", total_pages=128, seed=7) as engine:
        yield engine


@pytest.fixture
def run(engine: Engine) -> Run:
    """Runs a function of a model as an inferlet."""

    async def as_inferlet(program: Program) -> Any:
        async def main(input: Any) -> Any:
            return await program(Model.load(runtime.models()[0]))

        return await engine.run(main)

    return as_inferlet


class Counting:
    """A host that remembers what kinds of calls went through it."""

    def __init__(self, link: HostLink) -> None:
        self.link = link
        self.kinds: list[str] = []

    def call(self, message: calls.Call[Any]) -> Any:
        self.kinds.append(type(message).__name__)
        return self.link.call(message)

    async def submit(self, message: calls.Call[Any]) -> Any:
        self.kinds.append(type(message).__name__)
        return await self.link.submit(message)

    def post(self, message: calls.Call[Any]) -> None:
        self.kinds.append(type(message).__name__)
        self.link.post(message)


def counts(ctx: Context) -> tuple[int, int, int]:
    raw = ctx.inner()
    return raw.committed_page_count(), raw.working_page_count(), raw.working_page_token_count()


async def greedy(ctx: Context, count: int) -> list[int]:
    return await ctx.generate(ARGMAX, max_tokens=count, auto_flush=False).collect_tokens()


async def test_flush_commits_full_pages(run: Run) -> None:  # T7
    async def program(model: Model) -> None:
        ctx = Context(model).append(range(100, 164))
        await ctx.flush()
        await ctx.flush()
        assert counts(ctx) == (4, 0, 0)
        assert (ctx.buffer(), ctx.seq_len, ctx.page_size) == ([], 64, 16)

    await run(program)


async def test_raw_page_operations(run: Run) -> None:  # T1, T2, T4, T5
    async def program(model: Model) -> None:
        ctx = Context(model)
        raw = ctx.inner()
        raw.reserve_working_pages(2)
        await ctx.forward().input(range(300, 320)).defer_commit().execute()
        assert counts(ctx) == (0, 2, 20)
        with pytest.raises(PageBoundsError):
            raw.commit_working_pages(3)
        with pytest.raises(PageCommitError):
            raw.commit_working_pages(2)
        raw.commit_working_pages(1)
        assert counts(ctx) == (1, 1, 4)
        ctx.truncate(3)
        with pytest.raises(PageBoundsError):
            ctx.truncate(2)
        with pytest.raises(OutOfPagesError):
            raw.reserve_working_pages(1000)
        assert counts(ctx) == (1, 1, 1)
        raw.release_working_pages(1)
        assert counts(ctx) == (1, 0, 0)

    await run(program)


async def test_a_step_is_one_message(run: Run) -> None:
    async def program(model: Model) -> None:
        host = Counting(current_host())
        with use_host(host):
            ctx = Context(Model.load(model.name))
        generator = ctx.user("hello").generate(ARGMAX, max_tokens=4, constrain=Regex("[a-z ]+"))
        before = len(host.kinds)
        steps = [await step.execute() async for step in generator]
        assert host.kinds[before:] == ["Forward"] * len(steps)

    await run(program)


async def test_a_fork_continues_like_its_source(run: Run) -> None:  # T10
    async def program(model: Model) -> None:
        ctx = Context(model).user("Tell me about the sea.").cue()
        await ctx.append(range(100, 120)).flush()
        ctx.append([42])
        child, other = ctx.fork(), ctx.fork()
        other.append([43, 44])
        first = await greedy(child, 8)
        await greedy(other, 4)
        assert await greedy(ctx, 8) == first
        assert child.buffer() == first[-1:]

    await run(program)


async def test_snapshots_carry_tokens_and_buffer(run: Run) -> None:  # T13, T14
    async def program(model: Model) -> None:
        ctx = Context(model)
        await ctx.append(range(100, 120)).flush()
        ctx.append([42]).save("kept")
        opened, again = Context.open(model, "kept"), Context.open(model, "kept")
        assert opened is not None
        assert again is not None
        assert (opened.seq_len, opened.buffer()) == (20, [42])
        assert await greedy(opened, 6) == await greedy(ctx, 6) == await greedy(again, 6)
        taken = Context.take(model, "kept")
        assert taken is not None
        assert Context.open(model, "kept") is None
        with pytest.raises(SnapshotNotFoundError):
            Context.delete(model, "kept")
        Context.delete(model, taken.snapshot())
        with pytest.raises(InvalidArgumentError):
            ctx.save("__snapshot_mine")

    await run(program)


async def test_slots_and_probes_read_their_rows(run: Run) -> None:  # T35, L
    async def program(model: Model) -> None:
        forward = Context(model).append([101, 102]).forward().input([103, 104, 105, 106])
        first = forward.sample([0, 2], ARGMAX)
        entropy = forward.probe(1, Entropy())
        last = forward.sample([3], ARGMAX)
        best = forward.probe(3, Distribution(temperature=1.0, k=2))
        logits = forward.probe(3, Logits())
        everything = forward.probe(3, Logprobs(list(range(model.info.vocabulary_size))))
        output = await forward.execute()
        assert len(output.tokens_at(first)) == 2
        assert (output.entropy(entropy) or 0) > 0
        ids, shares = output.distribution(best) or ([], [])
        assert output.token(last) == ids[0]
        assert shares[0] >= shares[1] > 0
        assert len(output.logits(logits) or b"") == 4 * model.info.vocabulary_size
        total = math.fsum(math.exp(value) for value in output.logprobs(everything) or [])
        assert total == pytest.approx(1.0, abs=1e-3)
        assert output.entropy(last) is None  # pyright: ignore[reportArgumentType]

    await run(program)


async def test_a_logit_mask_keeps_the_sampler(run: Run) -> None:  # T36
    async def program(model: Model) -> None:
        forward = Context(model).forward().input([103]).mask(brle.allow_only([5, 9]))
        drawn = forward.sample([0], Sampler.multinomial(temperature=100.0, draws=40))
        assert set((await forward.execute()).tokens_at(drawn)) == {5, 9}

    await run(program)


async def test_explicit_causal_rows_change_nothing(run: Run) -> None:  # T34
    async def program(model: Model) -> None:
        plain = Context(model).forward().input([101, 102, 103])
        spelled = Context(model).forward().input([101, 102, 103]).attention_mask([[0, 3], [0, 3], [0, 3]])
        hidden = Context(model).forward().input([101, 102, 103]).attention_mask([[0, 1], [0, 2], [2, 1]])
        handles = [forward.probe(2, Distribution(temperature=1.0, k=5)) for forward in (plain, spelled, hidden)]
        read = [
            (await forward.execute()).distribution(handle)
            for forward, handle in zip((plain, spelled, hidden), handles, strict=True)
        ]
        assert read[0] == read[1] != read[2]

    await run(program)


async def test_forward_drains_the_buffer(run: Run) -> None:  # T41
    async def program(model: Model) -> None:
        ctx = Context(model).user("x")
        waiting = len(ctx.buffer())
        forward = ctx.forward()
        assert ctx.buffer() == []
        assert ctx.seq_len == forward.start_position() == waiting
        drawn = forward.input([101]).sample([0], ARGMAX)
        alone = Context(model).user("x")
        same = alone.append([101]).generate(ARGMAX, max_tokens=1, auto_flush=False)
        assert await same.collect_tokens() == [(await forward.execute()).token(drawn)]
        assert ctx.seq_len == waiting + 1

    await run(program)


async def test_limits_and_stops(run: Run) -> None:  # T42, T43
    async def program(model: Model) -> None:
        ctx = Context(model).user("Hello there")
        assert await ctx.fork().generate(ARGMAX, max_tokens=0).collect_text() == ""
        limited = ctx.fork()
        generator = limited.generate(ARGMAX, max_tokens=5, stop=[])
        prompt = len(limited.buffer())
        tokens = await generator.collect_tokens()
        assert (len(tokens), generator.finish_reason) == (5, "length")
        assert (limited.buffer(), limited.seq_len) == (tokens[-1:], prompt + 4)
        stopped = ctx.fork()
        generator = stopped.generate(ARGMAX, max_tokens=5, stop=[tokens[2]])
        emitted = tokens[: tokens.index(tokens[2])]
        assert await generator.collect_tokens() == emitted
        assert (stopped.buffer(), generator.finish_reason) == ([], "stop")
        assert stopped.seq_len == prompt + len(emitted)

    await run(program)


async def test_choosing_by_hand_equals_a_normal_run(run: Run) -> None:  # T44
    async def program(model: Model) -> None:
        ctx = Context(model).user("Hello there")
        plain = await ctx.fork().generate(ARGMAX, max_tokens=8).collect_tokens()
        generator = ctx.generate(ARGMAX, max_tokens=8)
        kept: list[int] = []
        best = generator.probe_each_step(-1, Distribution(temperature=1.0, k=1))
        async for step in generator:
            output = await step.clear_sampler().execute()
            kept += generator.accept((output.distribution(best) or ([], []))[0])
        assert kept == plain

    await run(program)


async def test_constraints_compose(run: Run) -> None:  # T45
    async def program(model: Model) -> None:
        class Only:
            def __init__(self, *tokens: int) -> None:
                self.mask = brle.allow_only(tokens)
                self.heard: list[list[int]] = []

            def step(self, accepted: list[int]) -> list[int]:
                self.heard.append(accepted)
                return self.mask

        one, other = Only(100, 101), Only(101, 102)
        ctx = Context(model).user("x")
        assert await ctx.fork().generate(ARGMAX, constrain=[one, other], max_tokens=2).collect_tokens() == [101, 101]
        assert one.heard == [[], [101]]
        never = ctx.generate(ARGMAX, constrain=[Only(100), Regex("yes")])
        with pytest.raises(EmptyMaskError, match="Only, Regex"):
            await never.collect_tokens()

    await run(program)


async def test_grammars_shape_text_and_end_it(run: Run) -> None:  # G13
    async def program(model: Model) -> list[str]:
        ctx = Context(model).user("Answer yes or no.")
        chosen = ctx.fork().generate(ARGMAX, constrain=Regex("yes|no"))
        date = ctx.fork().cue().generate(Sampler.top_p(), constrain=Regex("[0-9]{4}-[0-9]{2}"), auto_flush=False)
        both = [await chosen.collect_text(), model.tokenizer().decode(await date.collect_tokens())]
        assert (chosen.finish_reason, date.finish_reason) == ("grammar", "grammar")
        return both

    answer, date = await run(program)
    assert answer in ("yes", "no")
    assert [len(part) for part in date.split("-")] == [4, 2]


@dataclasses.dataclass
class Point:
    x: int
    up: bool


async def test_json_comes_as_values(run: Run) -> None:  # G11, T45
    async def program(model: Model) -> None:
        ctx = Context(model).user("The point x is 3. Extract x as JSON.")
        assert isinstance(await ctx.fork().generate(ARGMAX, max_tokens=200).collect_json(schema=Point), Point)
        schema = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}
        assert set(await ctx.fork().generate(ARGMAX, max_tokens=200).collect_json(schema=schema)) == {"ok"}
        with pytest.raises(GrammarError):
            ctx.generate(ARGMAX, constrain=JsonSchema("{"))

    await run(program)


async def test_a_matcher_walks(run: Run) -> None:
    async def program(model: Model) -> None:
        tokenizer = model.tokenizer()
        matcher = Matcher(Grammar.from_regex("(abc)+"), tokenizer)
        assert brle.allows_any(matcher.next_token_logit_mask(), model.info.vocabulary_size)
        with pytest.raises(GrammarRejectedError):
            matcher.accept_tokens(tokenizer.encode("x"))
        matcher.accept_tokens(tokenizer.encode("abc"))
        assert (matcher.is_complete, matcher.is_terminated) == (True, False)
        matcher.reset()
        assert not matcher.is_complete

    await run(program)


async def test_seeded_draws_repeat(run: Run) -> None:  # L6
    async def program(model: Model) -> None:
        ctx = Context(model).user("Say something.")
        sampler = Sampler.multinomial(temperature=1.0, seed=11)
        one, two = [await ctx.fork().generate(sampler, max_tokens=12).collect_tokens() for _ in range(2)]
        assert one == two

    await run(program)


async def test_bad_input_changes_nothing(run: Run) -> None:  # E3
    async def program(model: Model) -> None:
        ctx = Context(model).append([101, 102])
        with pytest.raises(InvalidArgumentError):
            ctx.append([10**6])
        forward = ctx.forward().input([103])
        forward.sample([1], ARGMAX)
        with pytest.raises(InvalidArgumentError):
            await forward.execute()
        assert (ctx.seq_len, ctx.buffer()) == (2, [])
        too_long = Context(model).append([101] * (128 * 16 + 1))
        with pytest.raises(OutOfPagesError):
            await too_long.flush()
        assert len(too_long.buffer()) == 128 * 16 + 1
        with pytest.raises(ModelNotFoundError):
            Model.load("nothing of that name")

    await run(program)


async def test_a_cancelled_pass_leaves_a_context_that_agrees(run: Run) -> None:  # E5
    async def program(model: Model) -> None:
        ctx = Context(model).append(range(100, 140))
        task = asyncio.ensure_future(ctx.flush())
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert ctx.seq_len + len(ctx.buffer()) == 40
        await ctx.flush()
        assert counts(ctx) == (2, 1, 8)

    await run(program)


async def test_released_contexts_are_gone(run: Run) -> None:  # P15
    async def program(model: Model) -> None:
        ctx = Context(model).append([101])
        await ctx.flush()
        forward = ctx.forward().input([102])
        ctx.release()
        ctx.release()
        with pytest.raises(ContextReleasedError):
            await forward.execute()

    await run(program)


async def test_bids_and_the_market(run: Run) -> None:  # T22, T28
    async def program(model: Model) -> None:
        ctx = Context(model).append([101])
        await ctx.flush()
        assert ctx.set_bid(2.5) == pytest.approx(2.5, abs=1e-6)
        assert ctx.set_bid(-1) == 0.0
        with ctx.idle():
            await greedy(ctx.append([102]), 2)
        assert scheduling.price() == 1.0
        assert scheduling.balance(model) > 0
        assert scheduling.latency(ctx) > 0
        assert scheduling.rent(ctx) == scheduling.dividend(model) == 0.0
        ctx.suspend()
        assert len(await greedy(ctx, 2)) == 2

    await run(program)


async def test_branches_share_a_batch(run: Run) -> None:
    async def program(model: Model) -> None:
        ctx = Context(model).user("Count to three.").cue()
        alone = await greedy(ctx.fork(), 10)
        together = await asyncio.gather(*(greedy(ctx.fork(), 10) for _ in range(6)))
        assert together == [alone] * 6

    await run(program)


async def test_two_texts_at_once_on_one_context_are_refused(run: Run) -> None:  # G6
    async def program(model: Model) -> None:
        ctx = Context(model).user("Count to three.").cue()
        found = await asyncio.gather(greedy(ctx, 10), greedy(ctx, 10), return_exceptions=True)
        assert [type(one) for one in found] == [list, ContextBusyError]

    await run(program)


async def test_turns_and_formats_are_those_of_the_template_with_its_variables(run: Run) -> None:  # D1
    async def written(model: Model) -> list[str]:
        assert model.template_variables == ["enable_thinking"]
        silent = Model.load(model.name, template={"enable_thinking": False})
        context = Context(silent).user("Hello").cue()
        found = [chat.cue(model), chat.cue(silent), context.buffer()]
        return [model.tokenizer().decode(tokens).rpartition("<|im_start|>")[2] for tokens in found]

    shut = "assistant\n<think>\n\n</think>\n\n"
    assert await run(written) == ["assistant\n", shut, shut]


@pytest.mark.parametrize(
    ("template", "error"),
    [({"thinking": True}, InvalidArgumentError), ({"enable_thinking": {1}}, InvalidTypeError)],
    ids=["unknown", "no JSON"],
)
async def test_variables_that_the_template_cannot_be_told_are_refused(
    run: Run, template: dict[str, Any], error: type[Exception]
) -> None:
    async def load(model: Model) -> None:
        Model.load(model.name, template=template)

    with pytest.raises(error):
        await run(load)
