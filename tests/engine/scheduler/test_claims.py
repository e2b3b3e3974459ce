"""Run-ahead: the tokens are the same, and nothing is left of what nobody asked for."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inferlet import (
    Adapter,
    Context,
    HiddenState,
    Logits,
    Output,
    Probe,
    ProbeHandle,
    Regex,
)
from inferlet.forward import Forward
from pie_mlx.engine.model.runner.batch import BatchEntry
from pie_mlx.engine.model.runner.pipeline import UncommittedStep
from pie_mlx.engine.model.runner.sampling import Sampling
from pie_mlx.events import TickCompleted
from tests.engine.acts import ACTS, FROM_FIVE, GREEDY, WARM, Act, generated, live, lives, step_by_step
from tests.engine.adapters.folders import write_mlx_lm
from tests.engine.running import Running, engine_alone, finished, in_context, running

pytestmark = pytest.mark.usefixtures("one_step_at_a_time")


@pytest.fixture(scope="module")
def ahead(tiny_model_directory: Callable[[str], Path]) -> Iterator[Running]:
    with engine_alone(model=str(tiny_model_directory("qwen3")), runs_ahead=True) as started:
        yield started


@pytest.fixture(scope="module")
def behind(tiny_model_directory: Callable[[str], Path]) -> Iterator[Running]:
    with engine_alone(model=str(tiny_model_directory("qwen3")), runs_ahead=False) as started:
        yield started


@settings(max_examples=12)
@given(programs=st.lists(st.lists(ACTS, min_size=1, max_size=6), min_size=1, max_size=4))
def test_programs_draw_the_same_tokens_with_run_ahead_and_without(  # E1, L6
    ahead: Running, behind: Running, programs: list[list[Act]]
) -> None:
    results = [finished(in_context(engine, lives(engine, programs))) for engine in (ahead, behind)]
    assert results[0] == results[1]
    ahead.check_books()
    assert ahead.store.usage().used == 0


def batches(engine: Running, first: int) -> list[bool]:
    return [event.ahead for event in engine.events[first:] if isinstance(event, TickCompleted)]


async def test_a_stream_is_computed_before_it_is_asked_for(ahead: Running) -> None:
    first = len(ahead.events)
    await in_context(ahead, live(ahead, ahead.prompt(20), [Act("generate", 40)]))
    # Not where the host has to copy something side by side first.
    assert batches(ahead, first).count(True) >= 35


async def test_the_last_steps_of_a_text_run_ahead_of_single_ones_too(
    ahead: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pie_mlx.engine.scheduler.tick_batch.MOST_STEPS", 0)
    first = len(ahead.events)
    await in_context(ahead, collected(ahead, 20))
    assert batches(ahead, first).count(True) >= 15


async def collected(engine: Running, tokens: int) -> None:
    with Context(engine.model) as context:
        context.append(engine.prompt(20))
        await context.generate(GREEDY, max_tokens=tokens, stop=[], auto_flush=False).collect_tokens()


@pytest.fixture
def foreseen(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Of each step that ran ahead, whether it was read as foreseen."""
    found, reading = list[bool](), UncommittedStep.sampling_of

    def watched(step: UncommittedStep, entries: Sequence[BatchEntry]) -> Sampling:
        read = reading(step, entries)
        found.append(read is step.sampling)
        return read

    monkeypatch.setattr(UncommittedStep, "sampling_of", watched)
    return found


async def test_a_greedy_stream_draws_with_the_step_that_runs_ahead(ahead: Running, foreseen: list[bool]) -> None:
    await in_context(ahead, live(ahead, ahead.prompt(20), [Act("generate", 20)]))
    assert foreseen.count(True) >= 15
    assert foreseen.count(False) == 0


def test_where_a_device_computes_in_order_all_that_is_read_is_foreseen(  # E1, L6
    monkeypatch: pytest.MonkeyPatch, foreseen: list[bool]
) -> None:
    monkeypatch.setenv("PIE_METAL", "emulate")
    drawn: list[list[int]] = []
    for runs_ahead in (True, False):
        with engine_alone(runs_ahead=runs_ahead, total_pages=8) as engine:
            acts = [Act("generate", 5, FROM_FIVE), Act("probe", 5, FROM_FIVE)]
            drawn.append(finished(in_context(engine, live(engine, engine.prompt(20), acts))))
    assert drawn[0] == drawn[1]
    assert (len(foreseen), foreseen.count(False)) == (9, 1)  # all but the first step; the probe was new


async def test_another_sampler_or_mask_is_read_from_what_was_computed_ahead(ahead: Running) -> None:  # E1, F9
    first = len(ahead.events)
    async with asyncio.timeout(60):
        drawn = await in_context(ahead, changing_samplers(ahead))
    assert batches(ahead, first).count(True) >= 8
    assert drawn[-2:] == [61, 62]


async def changing_samplers(engine: Running) -> list[int]:
    """Ten steps of one stream; the last two may only draw one token each."""
    with Context(engine.model) as context:
        context.append(engine.prompt(20, seed=3))
        await context.flush()
        drawn = [49]
        samplers = [GREEDY, WARM, *[FROM_FIVE] * 6, GREEDY, GREEDY]
        for step, sampler in enumerate(samplers):
            forward = context.forward().input(drawn[-1:])
            if step >= 8:
                forward.mask([53 + step, 1, engine.model.info.vocabulary_size - 54 - step])
            handle = forward.sample([0], sampler)
            token = (await forward.execute()).token(handle)
            assert token is not None
            drawn.append(token)
        return drawn


async def last_logits(engine: Running, last: Callable[[int, Forward], Forward]) -> np.ndarray:
    """After eight steps that just go on: what the `last` says of the next token."""
    output, probe = await last_read(engine, last, Logits())
    return np.frombuffer(output.logits(probe) or b"", np.float32)


async def last_read(
    engine: Running, last: Callable[[int, Forward], Forward], read: Probe
) -> tuple[Output, ProbeHandle]:
    drawn = [49]
    with Context(engine.model) as context:
        await context.append(engine.prompt(20, seed=8)).flush()
        for _ in range(8):
            forward = context.forward().input(drawn[-1:])
            handle = forward.sample([0], GREEDY)
            drawn += (await forward.execute()).tokens_at(handle)
        forward = last(drawn[-1], context.forward())
        probe = forward.probe(0, read)
        return await forward.execute(), probe


@pytest.mark.parametrize("kind", ["position", "attention mask", "adapter"])
def test_a_step_of_another_kind_is_not_what_was_computed_ahead(  # E1, F4, F7, A4
    ahead: Running, behind: Running, tmp_path: Path, kind: str
) -> None:
    random = np.random.default_rng(1)
    down, up = (random.standard_normal(shape).astype(np.float32) for shape in ((96, 4), (4, 64)))
    folder = write_mlx_lm(tmp_path, {"model.layers.0.mlp.down_proj": (down, up)}, scale=8.0, num_layers=4)

    async def told(engine: Running, kind: str) -> np.ndarray:
        adapter = Adapter.create(engine.model, "style")
        adapter.load(folder)
        kinds: dict[str, Callable[[int, Forward], Forward]] = {
            "plain": lambda token, forward: forward.input([token]),
            "position": lambda token, forward: forward.input_at([token], [100]),
            "attention mask": lambda token, forward: forward.input([token]).attention_mask([[20, 9]]),
            "adapter": lambda token, forward: forward.input([token]).adapter(adapter),
        }
        try:
            return await last_logits(engine, kinds[kind])
        finally:
            adapter.destroy()

    expected = finished(in_context(behind, told(behind, kind)))
    assert finished(in_context(ahead, told(ahead, kind))) == pytest.approx(expected, abs=1e-2)
    assert finished(in_context(behind, told(behind, "plain"))) != pytest.approx(expected, abs=1e-1)


def test_grammars_run_ahead_and_allow_the_same(ahead: Running, behind: Running) -> None:  # E1, G14
    def told(engine: Running) -> list[int]:
        async def constrained() -> list[int]:
            with Context(engine.model) as context:
                context.append(engine.prompt(20, seed=5))
                generator = context.generate(
                    GREEDY, max_tokens=40, stop=[], auto_flush=False, constrain=Regex("[a-z ]{40,60}[0-9]")
                )
                return await step_by_step(generator)

        return finished(in_context(engine, constrained()))

    first = len(ahead.events)
    assert told(ahead) == told(behind)
    assert batches(ahead, first).count(True) >= 5


def test_the_hidden_state_of_a_step_computed_ahead_is_that_of_the_step(ahead: Running, behind: Running) -> None:  # E1
    async def state(engine: Running) -> list[float] | None:
        output, probe = await last_read(engine, lambda token, forward: forward.input([token]), HiddenState())
        return output.hidden_state(probe)

    expected = finished(in_context(behind, state(behind)))
    first = len(ahead.events)
    assert finished(in_context(ahead, state(ahead))) == pytest.approx(expected, abs=1e-4)
    assert batches(ahead, first)[-1]


async def test_a_program_that_never_goes_on_is_foreseen_at_most_once(ahead: Running) -> None:
    async def single_steps() -> None:
        with Context(ahead.model) as context:
            context.append(ahead.prompt(20, seed=77))
            for token in range(10):
                await generated(context, Act("generate", 1))
                await context.append([50 + token]).flush()
                context.append([60])

    first = len(ahead.events)
    await in_context(ahead, single_steps())
    assert batches(ahead, first).count(True) == 0


@pytest.mark.parametrize("runs_ahead", [True, False])
def test_a_page_that_somebody_had_meanwhile_is_written_again(runs_ahead: bool) -> None:  # E1
    async def lives(engine: Running, *, disturbed: bool) -> list[int]:
        """A stream whose next page is taken by a fork, with a copy into it, and given back."""
        tokens: list[int] = []
        with Context(engine.model) as other, Context(engine.model) as stream:
            other.append(engine.encode("My name is Tom and")[:9])
            await other.flush()
            stream.append(engine.encode("Once upon a time there was a little girl who liked to")[:10])
            await stream.flush()
            stream.append(engine.encode(" play"))
            async for step in stream.generate(GREEDY, max_tokens=18, stop=[], auto_flush=False):
                tokens += (await step.execute()).tokens
                if disturbed and stream.seq_len == 16:
                    other.fork().release()
        return tokens

    with running(total_pages=3, page_size=16, runs_ahead=runs_ahead) as engine:
        alone = finished(in_context(engine, lives(engine, disturbed=False)))
    with running(total_pages=3, page_size=16, runs_ahead=runs_ahead) as engine:
        assert finished(in_context(engine, lives(engine, disturbed=True))) == alone


def test_a_context_that_got_other_tokens_reads_nothing_that_was_computed_behind_the_old_ones(
    ahead: Running, behind: Running
) -> None:  # E1, P6
    async def replaced(engine: Running) -> np.ndarray:
        begun, page = engine.prompt(16, seed=21), engine.prompt(16, seed=22)
        with Context(engine.model) as other, Context(engine.model) as stream:
            await other.append([*begun, *page]).flush()
            await stream.append(begun).flush()
            await stream.forward().input_at([page[0], *engine.prompt(14, seed=23)], [16, 5, *range(18, 31)]).execute()
            forward = stream.forward().input([49])
            drawn = forward.sample([0], GREEDY)
            token = (await forward.execute()).token(drawn)
            assert token is not None
            stream.truncate(15)
            forward = stream.forward().input([*page[1:], token])
            probe = forward.probe(15, Logits())
            return np.frombuffer((await forward.execute()).logits(probe) or b"", np.float32)

    expected = finished(in_context(behind, replaced(behind)))
    assert finished(in_context(ahead, replaced(ahead))) == pytest.approx(expected, abs=1e-2)


async def test_a_prompt_has_a_row_in_every_batch_beside_a_stream() -> None:  # Q8
    with running(prefill_chunk_tokens=64, decode_stall_seconds=60.0) as engine:
        stream, prompt = (Context(engine.model).append(engine.prompt(20, seed)) for seed in range(2))
        writing = asyncio.create_task(step_by_step(stream.generate(GREEDY, max_tokens=60, stop=[], auto_flush=False)))
        while len(engine.events) < 30:  # noqa: ASYNC110 - events tell no loop
            await asyncio.sleep(0)
        await prompt.append(engine.prompt(1000, 3)).flush()
        ticks = [event for event in engine.events if isinstance(event, TickCompleted)]
        await writing
    beside = [place for place, tick in enumerate(ticks) if tick.contexts == 2]
    assert len(beside) >= 10
    assert not any(tick.ahead for tick in ticks[beside[0] : beside[-1]])
