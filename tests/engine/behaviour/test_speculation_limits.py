"""What speculation may not do: overspend, wait for pages, harm others, or be of use to nobody."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from inferlet import Context, Sampler, sync
from pie_mlx.calls import Forward, SampledTokens, Slot, Speculation
from pie_mlx.errors import InvalidArgumentError, InvalidTypeError, SpeculationError, TokenBudgetError
from tests.engine.behaviour.test_speculation import GREEDY, PAGE, Guessing, Scripted, generated
from tests.engine.running import Running, engine_alone, finished, in_context, running

pytestmark = pytest.mark.usefixtures("random_model")


class Broken:
    """Fails in one of its methods, or drafts what it is told to."""

    def __init__(self, drafts: object = ((), ()), fails: str = "") -> None:
        self.drafts, self.fails = drafts, fails

    def draft(self) -> Any:
        self.fail("draft")
        return self.drafts

    def accept(self, tokens: list[int]) -> None:
        self.fail("accept")

    def rollback(self, n: int) -> None:
        self.fail("rollback")

    def reset(self) -> None:
        self.fail("reset")

    def fail(self, method: str) -> None:
        if self.fails == method:
            raise ZeroDivisionError(method)


@pytest.mark.parametrize(
    "drafts",
    [
        None,
        ([1], [20], [0], [0]),
        ([1, 2], [20]),
        ([1], [21]),
        ([1, 2], [20, 20]),
        ([1, 2], [20, 22]),
        ([1], [-1]),
        ([10_000], [20]),
        (["a"], [20]),
        ([1, 2], [20, 20], [-1]),
        ([1, 2], [20, 21], [-1, 1]),
        ([1, 2], [20, 20], [-1, 0]),
    ],
)
async def test_malformed_drafts_are_refused_and_nothing_changes(engine: Running, drafts: object) -> None:  # V5, E3
    with Context(engine.model) as context:
        context.append(engine.prompt(20, 40))
        speculator = Broken(drafts)
        generator = context.generate(GREEDY, max_tokens=4, stop=[], auto_flush=False, speculator=speculator)
        with pytest.raises(SpeculationError):
            await generator.collect_tokens()
        assert (context.seq_len, len(context.buffer())) == (0, 20)
        speculator.drafts = ([], [])
        assert len(await generator.collect_tokens()) == 4


async def test_a_broken_speculator_harms_nobody_else(engine: Running) -> None:  # V5
    prompt = engine.prompt(20, 41)
    plain = await generated(engine, prompt, {})
    other = asyncio.create_task(generated(engine, prompt, {}, system_speculation=True))
    with pytest.raises(SpeculationError, match="ZeroDivisionError"):
        await generated(engine, engine.prompt(20, 42), {}, speculator=lambda ctx: Broken(fails="draft"))
    assert await other == plain


async def test_a_speculator_that_fails_afterwards_loses_no_token(engine: Running) -> None:  # V5
    with Context(engine.model) as context:
        context.append(engine.prompt(20, 43))
        generator = context.generate(GREEDY, max_tokens=4, stop=[], auto_flush=False, speculator=Broken(fails="accept"))
        output = await (await anext(generator)).execute()
        assert context.buffer() == output.tokens
        with pytest.raises(SpeculationError, match="accept"):
            await anext(generator)


async def test_a_speculator_that_cannot_be_reset_is_refused(engine: Running) -> None:  # V5
    with Context(engine.model) as context:
        before = context.user("hello").buffer()
        with pytest.raises(SpeculationError, match="reset"):
            context.generate(GREEDY, speculator=Broken(fails="reset"))
        assert context.buffer() == before


async def test_a_speculator_is_an_object_with_its_methods(engine: Running) -> None:  # V4
    with Context(engine.model) as context, pytest.raises(InvalidTypeError):
        context.generate(GREEDY, speculator=object())  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "changes",
    [
        {"slots": []},
        {"slots": [Slot(0, GREEDY)]},
        {"slots": [Slot(1, Sampler.multinomial(draws=2))]},
        {"slots": [Slot(1, GREEDY), Slot(1, GREEDY)]},
        {"positions": [0, 1]},
        {"attention_masks": [[0, 1], [0, 2]]},
    ],
)
async def test_drafts_need_one_sampler_after_plain_input(engine: Running, changes: dict[str, Any]) -> None:  # V2
    with Context(engine.model) as context:
        whole = {"slots": [Slot(1, GREEDY)], "speculation": Speculation(4, [1, 2]), **changes}
        with pytest.raises(InvalidArgumentError, match="speculation"):
            await engine.host.submit(Forward(context.id, [1, 2], **whole))


async def test_a_model_that_cannot_take_tokens_back_refuses(
    tiny_model_directory: Callable[[str], Path],
) -> None:
    with running(model=str(tiny_model_directory("baichuan_m1"))) as recurrent:
        with pytest.raises(InvalidArgumentError, match="are part of others"):
            await generated(recurrent, [5, 6, 7], {}, system_speculation=True)
        assert len((await generated(recurrent, [5, 6, 7], {"max_tokens": 3})).tokens) == 3


async def test_drafts_beyond_the_token_budget_are_not_run(engine: Running) -> None:  # M3
    prompt = engine.prompt(20, 44)
    truth = (await generated(engine, prompt, {"max_tokens": 8})).tokens
    with engine.process(token_budget=23) as host:
        poor = Running(engine.core, engine.events, host)
        with Context(poor.model) as context:
            context.append(prompt)
            generator = context.generate(
                GREEDY, max_tokens=8, stop=[], auto_flush=False, speculator=Scripted(context, [truth[:6]])
            )
            output = await (await anext(generator)).execute()
            assert output.tokens == truth[:4]
            with pytest.raises(TokenBudgetError):
                await (await anext(generator)).execute()


async def test_rejected_drafts_cost_no_tokens(engine: Running) -> None:  # M3
    prompt = engine.prompt(20, 45)
    truth = (await generated(engine, prompt, {"max_tokens": 5})).tokens
    with engine.process(token_budget=24) as host:
        wrong = [token ^ 1 for token in truth]
        outcome = await generated(
            Running(engine.core, engine.events, host),
            prompt,
            {"max_tokens": 5},
            speculator=lambda ctx: Scripted(ctx, [wrong[:4], wrong[1:4], wrong[2:4], wrong[3:4]]),
        )
    assert outcome.tokens == truth


async def test_drafts_beyond_the_pool_are_not_run() -> None:  # P4, P10
    with running(total_pages=2) as small:
        prompt = small.prompt(PAGE + 2, 46)
        with Context(small.model) as context:
            context.append(prompt)
            generator = context.generate(
                GREEDY, max_tokens=40, stop=[], auto_flush=False, speculator=Scripted(context, [[1] * 39])
            )
            output = await (await anext(generator)).execute()
            assert output.raw is not None
            assert output.raw.drafted == 2 * PAGE - len(prompt)


async def test_drafts_do_not_pass_the_models_last_position(engine: Running) -> None:  # F4
    last = engine.model.info.maximum_positions
    with Context(engine.model) as context:
        context.append([5] * (last - 3))
        await context.flush()
        context.append([6])
        generator = context.generate(
            GREEDY, max_tokens=40, stop=[], auto_flush=False, speculator=Scripted(context, [[1] * 30])
        )
        output = await (await anext(generator)).execute()
        assert output.raw is not None
        assert output.raw.drafted == 2


async def test_the_state_survives_what_programs_do_in_between(engine: Running) -> None:  # P13, R2, P6
    prompt = engine.prompt(21, 47)

    async def life(**more: Any) -> list[int]:
        drawn: list[int] = []
        with Context(engine.model) as context:
            context.append(prompt)
            for act in ("", "suspend", "truncate", "fork", ""):
                if act == "suspend":
                    context.suspend()
                if act == "truncate":
                    context.truncate(min(3, context.inner().working_page_token_count()))
                chosen = context.fork() if act == "fork" else context
                generator = chosen.generate(GREEDY, max_tokens=7, stop=[], auto_flush=False, **more)
                drawn += await generator.collect_tokens()
                if chosen is not context:
                    chosen.release()
        engine.check_books()
        return drawn

    assert await life(system_speculation=True) == await life()


async def test_a_cancelled_step_leaves_its_input_and_no_draft(engine: Running) -> None:  # E5
    prompt = engine.prompt(20, 48)
    truth = (await generated(engine, prompt, {"max_tokens": 8})).tokens
    with Context(engine.model) as context:
        context.append(prompt)
        generator = context.generate(
            GREEDY, max_tokens=8, stop=[], auto_flush=False, speculator=Scripted(context, [truth[:5]])
        )
        step = asyncio.create_task((await anext(generator)).execute())
        for _ in range(3):
            await asyncio.sleep(0)
        step.cancel()
        await asyncio.gather(step, return_exceptions=True)
        held = context.seq_len
        assert (held == 0 and context.buffer() == prompt) or (held >= 20 and context.buffer() == [])
    engine.check_books()


@pytest.mark.parametrize("runs_ahead", [True, False])
async def test_running_ahead_changes_nothing(runs_ahead: bool) -> None:  # G14
    with engine_alone(runs_ahead=runs_ahead) as started:
        prompt = started.prompt(20, 49)

        async def compare() -> None:
            plain = await generated(started, prompt, {"max_tokens": 40})
            assert await generated(started, prompt, {"max_tokens": 40}, system_speculation=True) == plain
            custom: Callable[[Context], Guessing] = lambda ctx: Guessing(ctx, plain.tokens, [3, 0, 0, 0], {5, 20})  # noqa: E731
            assert await generated(started, prompt, {"max_tokens": 40}, speculator=custom) == plain

        await in_context(started, compare())


async def test_small_chunks_and_a_tight_pool_change_nothing() -> None:  # Q10, Q4
    with running(total_pages=14, prefill_chunk_tokens=8, max_batch_tokens=16) as tight:
        prompts = [tight.prompt(40 + number, number) for number in range(4)]
        alone = [await generated(tight, prompt, {}) for prompt in prompts]
        together = await asyncio.gather(
            *(
                generated(
                    tight, prompt, {}, speculator=lambda ctx, truth=outcome.tokens: Guessing(ctx, truth, [6], {4})
                )
                for prompt, outcome in zip(prompts, alone, strict=True)
            )
        )
        assert list(together) == alone
        tight.check_books()


def test_drafts_of_a_pass_by_hand_stay_as_far_as_they_were_right(engine: Running) -> None:  # Y1, F12
    prompt = engine.prompt(20, 50)
    truth = finished(in_context(engine, generated(engine, prompt, {"max_tokens": 4}))).tokens
    context = sync.Context(engine.model)
    context.inner().reserve_working_pages(2)
    by_hand = sync.ForwardPass(engine.model).context(context).input_tokens(prompt, list(range(20)))
    by_hand.input_speculative_tokens([*truth[:2], truth[2] ^ 1], [20, 21, 22])
    assert by_hand.sampler([19], sync.Sampler.greedy()).execute() == [SampledTokens(truth[:3])]
    assert context.seq_len == 22
    context.release()


def test_drafts_of_a_pass_by_hand_follow_its_input(engine: Running) -> None:  # V5
    by_hand = sync.ForwardPass(engine.model)
    with pytest.raises(SpeculationError):
        by_hand.input_tokens([1, 2], [0, 1]).input_speculative_tokens([3], [3])
