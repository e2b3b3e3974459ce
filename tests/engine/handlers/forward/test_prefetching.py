"""Tokens drawn before a program asks for them: the same as if it had, and nothing is left of those that it does not."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inferlet import Context, Entropy, Generator, Logits, Sampler
from pie_mlx import calls
from pie_mlx.engine.handlers.forward import continuation
from pie_mlx.errors import InvalidArgumentError, TokenBudgetError
from pie_mlx.events import PassCompleted, TickCompleted
from tests.engine.acts import ACTS, GREEDY, LEANING, PENALIZED, WARM, Act, generated, live, lives, step_by_step
from tests.engine.running import Running, engine_alone, finished, in_context, running


@pytest.fixture(autouse=True)
def any_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps are taken together however long they take on this machine."""
    monkeypatch.setattr(continuation, "LONGEST_SECONDS", 1000.0)


@pytest.fixture(scope="module")
def alone(tiny_model_directory: Callable[[str], Path]) -> Iterator[Running]:
    with engine_alone(model=str(tiny_model_directory("qwen3")), runs_ahead=False) as started:
        yield started


@pytest.fixture(scope="module")
def looking(tiny_model_directory: Callable[[str], Path]) -> Iterator[Running]:
    with engine_alone(model=str(tiny_model_directory("qwen3"))) as started:
        yield started


@pytest.fixture
def engine(looking: Running) -> Iterator[Running]:
    with looking.process() as host:
        yield Running(looking.core, looking.events, host)
    looking.check_books()


def claims(tokens: int) -> calls.Continuation:
    return calls.Continuation(asked=False, claimed=tokens)


def stream(context: Context, tokens: int | None, sampler: Sampler = GREEDY) -> Generator:
    return context.generate(sampler, max_tokens=tokens, stop=[], auto_flush=False)


async def steps(generator: Generator, count: int) -> list[int]:
    return [token for _ in range(count) for token in (await (await anext(generator)).execute()).tokens]


def passes(engine: Running, first: int) -> list[PassCompleted]:
    return [event for event in engine.events[first:] if isinstance(event, PassCompleted)]


@settings(max_examples=12)
@given(programs=st.lists(st.lists(ACTS, min_size=1, max_size=6), min_size=1, max_size=3))
def test_programs_draw_what_they_would_draw_step_by_step(  # E1, L6
    looking: Running, alone: Running, programs: list[list[Act]]
) -> None:
    results = [finished(in_context(engine, lives(engine, programs))) for engine in (looking, alone)]
    assert results[0] == results[1]
    looking.check_books()
    assert looking.store.usage().used == 0


@pytest.mark.parametrize("sampler", [GREEDY, WARM, Sampler.multinomial(0.9), PENALIZED, LEANING])
async def test_a_stream_is_a_few_passes(engine: Running, sampler: Sampler) -> None:  # G14, L6
    first = len(engine.events)
    with Context(engine.model) as context:
        context.append(engine.prompt(20))
        assert len(await step_by_step(stream(context, 60, sampler))) == 60
        assert context.seq_len == 20 + 59
    told = passes(engine, first)
    assert len(told) <= 15
    assert sum(event.attached_tokens + event.computed_tokens for event in told) == 20 + 59
    assert sum(event.rows_read for event in told) == 60
    assert sum(1 + event.following for event in told) == 60


async def test_a_stream_without_anything_to_guess_is_few_passes_and_draws_the_same_tokens(
    engine: Running,
) -> None:  # V8, G14
    first, texts = len(engine.events), list[list[int]]()
    for speculation in ("ngram", None):
        with Context(engine.model) as context:
            context.append(engine.prompt(20, 6))
            generator = context.generate(
                Sampler.multinomial(2.0, seed=5), max_tokens=80, stop=[], auto_flush=False, speculation=speculation
            )
            texts.append(await step_by_step(generator))
    assert texts[0] == texts[1]
    guessing = [event for event in passes(engine, first) if event.context == passes(engine, first)[0].context]
    assert len(guessing) <= 40


async def test_the_first_steps_of_a_text_are_answered_at_once(engine: Running) -> None:
    first = len(engine.events)
    with Context(engine.model) as context:
        context.append(engine.prompt(20, 1))
        await steps(stream(context, 10), 1)
    assert [event.steps for event in engine.events[first:] if isinstance(event, TickCompleted)] == [1]


async def test_the_context_is_as_long_as_the_program_has_got(engine: Running) -> None:  # F1, P9
    with Context(engine.model) as context:
        context.append(engine.prompt(20, 2))
        generator = stream(context, 40)
        for length in range(20, 60):
            output = await (await anext(generator)).execute()
            assert output.raw is not None
            assert output.raw.counters.sequence_length(16) == context.seq_len == length
            assert len(context.buffer()) == 1


async def test_what_differs_is_computed_as_if_nothing_had_been_drawn_ahead(engine: Running, alone: Running) -> None:
    async def told(on: Running) -> tuple[list[int], list[float | None]]:
        with Context(on.model) as context:
            context.append(on.prompt(20, 3))
            generator = stream(context, 60, WARM)
            drawn, entropies = await steps(generator, 13), list[float | None]()
            step = await anext(generator)
            probe = step.probe(-1, Entropy())
            output = await step.execute()
            entropies.append(output.entropy(probe))
            drawn += output.tokens + await steps(generator, 12)
            context.append([60, 61])
            drawn += await steps(generator, 12)
            step = (await anext(generator)).clear_sampler()
            await step.execute()
            drawn += generator.accept([62]) + await steps(generator, 12)
            return drawn, entropies

    found, expected = await in_context(engine, told(engine)), finished(in_context(alone, told(alone)))
    assert found[0] == expected[0]
    assert found[1] == pytest.approx(expected[1], abs=1e-4)


@pytest.mark.parametrize("taken", [2, 3, 4])
async def test_what_lies_after_the_end_is_not_counted_once_the_end_has_moved(
    engine: Running, alone: Running, taken: int
) -> None:  # P6
    async def told(on: Running) -> bytes | None:
        with Context(on.model) as context:
            context.append(on.prompt(20, 12))
            await steps(stream(context, 60, Sampler.multinomial(1.5, seed=4)), taken)
            context.truncate(1)
            await context.append([60, 61]).flush()
            forward = context.forward().input([62])
            probe = forward.probe(0, Logits())
            return (await forward.execute()).logits(probe)

    found, expected = await in_context(engine, told(engine)), finished(in_context(alone, told(alone)))
    assert found is not None
    assert expected is not None
    assert np.frombuffer(found, np.float32) == pytest.approx(np.frombuffer(expected, np.float32), abs=1e-3)


@pytest.mark.parametrize("disturbed", [True, False])
async def test_pages_that_somebody_had_meanwhile_are_computed_again(  # R6
    disturbed: bool, alone: Running, tiny_model_directory: Callable[[str], Path]
) -> None:
    sampler = Sampler.multinomial(1.5, seed=4)

    async def told(on: Running, *, disturbed: bool) -> bytes | None:
        with Context(on.model) as context, Context(on.model) as other:
            context.append(on.prompt(20, 12))
            generator = stream(context, 60, sampler)
            await steps(generator, 4)
            if disturbed:
                await other.append(on.prompt(60, 13)).flush()
                assert on.store.contexts.off_pool([context.id])
                other.release()
            await steps(generator, 2)
            await context.flush()
            forward = context.forward().input([62])
            probe = forward.probe(0, Logits())
            return (await forward.execute()).logits(probe)

    with running(model=str(tiny_model_directory("qwen3")), total_pages=4) as engine:
        found = finished(in_context(engine, told(engine, disturbed=disturbed)))
    expected = finished(in_context(alone, told(alone, disturbed=False)))
    assert found is not None
    assert expected is not None
    assert np.frombuffer(found, np.float32) == pytest.approx(np.frombuffer(expected, np.float32), abs=1e-3)


async def test_what_is_drained_meanwhile_comes_before_the_next_step(engine: Running, alone: Running) -> None:  # F1
    async def told(on: Running, taken: int) -> list[int]:
        with Context(on.model) as context:
            context.append(on.prompt(20, 15))
            generator = stream(context, 60, Sampler.multinomial(1.5, seed=4))
            drawn = await steps(generator, taken)
            context.forward()
            context.append(drawn[-1:])
            return drawn + await steps(generator, 5)

    for taken in range(3, 12):
        assert await in_context(engine, told(engine, taken)) == finished(in_context(alone, told(alone, taken)))


async def test_a_program_that_leaves_some_is_given_fewer(engine: Running) -> None:
    """It takes 13 steps of a stream, then goes elsewhere: what was drawn beyond them is not drawn again and again."""
    with Context(engine.model) as context:
        context.append(engine.prompt(5, 4))
        await steps(stream(context, 13), 13)
        for token in range(5):
            context.append([70 + token])
            await steps(stream(context, 2), 2)
        first = len(engine.events)
        context.append([80])
        await steps(stream(context, None), 2)
        ticks = [event.steps for event in engine.events[first:] if isinstance(event, TickCompleted)]
    assert sum(ticks) <= 4


async def test_forks_and_snapshots_have_what_was_taken_and_no_more(engine: Running, alone: Running) -> None:  # P13, N2
    async def told(on: Running) -> list[list[int]]:
        with Context(on.model) as context:
            context.append(on.prompt(20, 5))
            generator = stream(context, 40, WARM)
            drawn = [await steps(generator, 12)]
            context.save("half")
            opened = Context.take(on.model, "half")
            assert opened is not None
            with context.fork() as child, opened:
                assert child.seq_len == opened.seq_len == context.seq_len
                drawn += [await steps(stream(one, 5, WARM), 5) for one in (child, opened)]
            return [*drawn, await steps(generator, 12)]

    assert await in_context(engine, told(engine)) == finished(in_context(alone, told(alone)))


async def test_a_text_ends_at_its_stop_token(engine: Running, alone: Running) -> None:  # G3
    async def told(on: Running, stop: list[int]) -> tuple[list[int], int]:
        with Context(on.model) as context:
            context.append(on.prompt(20, 6))
            drawn = await step_by_step(context.generate(GREEDY, max_tokens=30, stop=stop, auto_flush=False))
            return drawn, context.seq_len

    text, _ = await in_context(engine, told(engine, []))
    stop = [text[17]]
    assert await in_context(engine, told(engine, stop)) == finished(in_context(alone, told(alone, stop)))


async def test_a_stop_token_that_is_added_meanwhile_holds(engine: Running) -> None:
    with Context(engine.model) as context:
        context.append(engine.prompt(20, 6))
        text = await step_by_step(stream(context, 30))
    with Context(engine.model) as context:
        context.append(engine.prompt(20, 6))
        generator = stream(context, 30)
        drawn = await steps(generator, 12)
        generator.add_stop([text[14]])
        drawn += await step_by_step(generator)
    assert drawn == text[: text.index(text[14], 12)]
    assert generator.finish_reason == "stop"


async def test_a_budget_pays_for_what_is_taken(engine: Running) -> None:  # M3
    with engine.process(token_budget=40), Context(engine.model) as context:
        context.append(engine.prompt(9, 7))
        generator = stream(context, 100)
        assert len(await steps(generator, 40 - 9 + 1)) == 32
        with pytest.raises(TokenBudgetError):
            await steps(generator, 1)


async def test_two_contexts_spend_no_more_than_their_budget(engine: Running) -> None:  # M3
    with engine.process(token_budget=120), Context(engine.model) as one, Context(engine.model) as other:
        texts = [stream(each.append(engine.prompt(9, 20 + seed)), 200) for seed, each in enumerate((one, other))]
        await steps(texts[0], 20)
        with pytest.raises(TokenBudgetError):
            await step_by_step(texts[1])
        with pytest.raises(TokenBudgetError):
            await step_by_step(texts[0])
        assert one.seq_len + other.seq_len == 120


async def test_what_was_taken_is_told_when_the_context_is_released(engine: Running) -> None:  # P15
    first = len(engine.events)
    with Context(engine.model) as context:
        context.append(engine.prompt(9, 8))
        await steps(stream(context, 100), 25)
    assert sum(event.computed_tokens for event in passes(engine, first)) == 9 + 24


async def test_a_cancelled_step_leaves_what_a_cancelled_pass_leaves(engine: Running) -> None:  # E5
    with Context(engine.model) as context:
        context.append(engine.prompt(20, 9))
        generator = stream(context, 200)
        for _ in range(40):
            await steps(generator, 1)
            running_step = asyncio.create_task(steps(generator, 1))
            await asyncio.sleep(0)
            running_step.cancel()
            await asyncio.gather(running_step, return_exceptions=True)
            length, buffered = context.seq_len, len(context.buffer())
            assert buffered <= 1
            if not buffered:  # it ran, and its token is lost
                context.append([50])
            assert context.seq_len == length
        engine.check_books()


async def test_two_streams_side_by_side_are_what_each_is_alone(engine: Running, alone: Running) -> None:  # E1
    async def both(on: Running) -> list[list[int]]:
        acts = [Act("generate", 30), Act("generate", 30, WARM)]
        return await asyncio.gather(*(live(on, on.prompt(20, place), [act]) for place, act in enumerate(acts)))

    assert await in_context(engine, both(engine)) == finished(in_context(alone, both(alone)))


async def test_a_stream_that_was_suspended_goes_on(engine: Running, alone: Running) -> None:  # R1, R7
    async def told(on: Running) -> list[int]:
        with Context(on.model) as context:
            context.append(on.prompt(20, 10))
            generator = stream(context, 60)
            drawn = await steps(generator, 11)
            for _ in range(4):
                context.suspend()
                drawn += await steps(generator, 9)
            return drawn

    assert await in_context(engine, told(engine)) == finished(in_context(alone, told(alone)))


async def test_whoever_takes_more_than_was_told_is_refused(engine: Running) -> None:
    with Context(engine.model) as context:
        await context.append(engine.prompt(20, 11)).flush()
        request = calls.Forward(context.id, [50], slots=[calls.Slot(0, GREEDY)], continuation=claims(1))
        with pytest.raises(InvalidArgumentError, match="1 prefetched tokens claimed of"):
            engine.host.call(request)


async def test_what_was_taken_may_be_told_after_another_pass(
    engine: Running,
) -> None:  # E5: the one before was given up
    with Context(engine.model) as context:
        await context.append(engine.prompt(20, 14)).flush()
        number, slots = context.id, [calls.Slot(0, GREEDY)]
        ahead, token = list[int](), 50
        while not ahead:
            request = calls.Forward(number, [token], slots=slots, continuation=calls.Continuation(4, asked=False))
            ahead = (await engine.host.submit(request)).prefetched
        await engine.host.submit(calls.Forward(number, [51], slots=slots))
        await engine.host.submit(calls.Forward(number, [52], slots=slots, continuation=claims(1)))
        with pytest.raises(InvalidArgumentError):
            await engine.host.submit(calls.Forward(number, [53], slots=slots, continuation=claims(len(ahead))))


async def test_without_run_ahead_every_step_is_a_pass() -> None:
    with running(runs_ahead=False) as engine:
        first = len(engine.events)
        assert len(await generated(Context(engine.model).append(engine.prompt(20)), Act("generate", 20))) == 20
        assert len(passes(engine, first)) == 20
