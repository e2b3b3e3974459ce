"""Models with recurrent layers in a pool that is too small for all."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path

import mlx.core as mx
import numpy as np
import pytest

from inferlet import Context, Logits, Sampler
from inferlet.forward import Forward
from pie_mlx.engine.handlers.forward import continuation
from pie_mlx.engine.model.networks.network import Network
from pie_mlx.engine.model.step import StepInput
from pie_mlx.errors import BatchFailedError, InvalidArgumentError, OutOfPagesError
from pie_mlx.events import ContextSuspended, TickCompleted
from pie_mlx.metal import PageMemory
from tests.engine.acts import step_by_step
from tests.engine.running import Running, engine_alone, in_context, running


def prompt(seed: int, tokens: int = 30) -> list[int]:
    return [5 + (seed * 37 + place * 11) % 200 for place in range(tokens)]


async def text(engine: Running, seed: int) -> list[int]:
    with Context(engine.model) as context:
        context.append(prompt(seed))
        steps = context.generate(Sampler.argmax(), max_tokens=40, stop=[], auto_flush=False)
        return await steps.collect_tokens()


async def outcomes(directory: Path, pages: int, *, together: bool) -> tuple[list[list[int] | BaseException], int]:
    """What two programs write, or what ended them; and how often a context was suspended."""
    with running(model=str(directory), total_pages=pages) as engine:
        if together:
            found = await asyncio.gather(text(engine, 1), text(engine, 2), return_exceptions=True)
        else:
            found = [await text(engine, 1), await text(engine, 2)]
        return found, sum(isinstance(event, ContextSuspended) for event in engine.events)


async def test_programs_that_do_not_fit_together_take_turns_and_write_the_same(
    tiny_model_directory: Callable[[str], Path],
) -> None:  # R7, Q7
    directory = tiny_model_directory("qwen3_next")
    expected, none = await outcomes(directory, 64, together=False)
    found, suspensions = await outcomes(directory, 9, together=True)
    assert found == expected
    assert none == 0 < suspensions


async def test_a_program_that_thinks_makes_way_and_goes_on_later(
    tiny_model_directory: Callable[[str], Path],
) -> None:  # Q3
    with running(model=str(tiny_model_directory("qwen3_next")), total_pages=10) as engine:
        first, second = Context(engine.model), Context(engine.model)
        await first.append(prompt(1, 80)).flush()
        await second.append(prompt(2, 64)).flush()
        assert first.seq_len == 80
        assert second.seq_len == 64
        assert not engine.store.contexts[first.id].resident
        await first.append(prompt(3, 4)).flush()
        assert first.seq_len == 84


async def test_a_pool_that_holds_no_state_is_refused(tiny_model_directory: Callable[[str], Path]) -> None:
    with (
        pytest.raises(OutOfPagesError, match=r"recurrent layers .* costs 2 pages, the pool has 2"),
        running(model=str(tiny_model_directory("qwen3_next")), total_pages=2),
    ):
        pass


async def test_a_text_that_never_fits_is_refused_with_the_price_of_its_state(
    tiny_model_directory: Callable[[str], Path],
) -> None:  # P4
    with (
        running(model=str(tiny_model_directory("qwen3_next")), total_pages=6) as engine,
        pytest.raises(OutOfPagesError, match="7 pages can never fit, 2 of them for the state"),
    ):
        await Context(engine.model).append(prompt(1, 70)).flush()


async def test_more_forks_than_states_fit_take_turns(tiny_model_directory: Callable[[str], Path]) -> None:  # P13
    with running(model=str(tiny_model_directory("qwen3_next")), total_pages=160) as engine:
        source = await held(engine, 1)
        expected = await logits(source.fork())
        found = await asyncio.gather(*[logits(source.fork()) for _ in range(200)])
        for each in found:
            np.testing.assert_allclose(each, expected, atol=1e-5)


async def held(engine: Running, seed: int) -> Context:
    context = Context(engine.model)
    await context.append(prompt(seed, 30)).flush()
    return context


async def logits(context: Context) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    forward = context.forward().input([9])
    probe = forward.probe(0, Logits())
    return np.frombuffer((await forward.execute()).logits(probe), np.float32)


class Failing:
    """A network whose `number`th step gives what `fail` makes of it; nobody fails before it is armed."""

    def __init__(
        self, engine: Running, number: int, fail: Callable[[mx.array], mx.array], patch: pytest.MonkeyPatch
    ) -> None:
        self.left, self._fail = number, fail
        network: Network = engine.core.services.runner.model.network
        self._forward = network.forward
        patch.setattr(network, "forward", self.forward)

    def forward(self, step: StepInput, memory: PageMemory) -> mx.array:
        found = self._forward(step, memory)
        self.left -= 1
        return found if self.left else self._fail(found)


def lost(_: mx.array) -> mx.array:
    raise RuntimeError("the device is lost")


def no_numbers(found: mx.array) -> mx.array:
    return found * mx.array(float("nan"))


async def after(
    directory: Path, fail: Callable[[mx.array], mx.array] | None, step: int
) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    """The logits after a prompt of three chunks, of which a step may have failed once."""
    with running(model=str(directory), prefill_chunk_tokens=48) as engine, pytest.MonkeyPatch.context() as patch:
        context = await held(engine, 1)
        context.append(prompt(2, 100))
        if fail is not None:
            Failing(engine, step, fail, patch)
            with pytest.raises(BatchFailedError):
                await context.flush() if step < 5 else await flushed_logits(context)
        await context.flush()
        return await logits(context)


async def flushed_logits(context: Context) -> None:
    await context.flush()
    await logits(context)


@pytest.fixture(scope="module")
def hybrid(tiny_model_directory: Callable[[str], Path]) -> Iterator[Running]:
    with engine_alone(model=str(tiny_model_directory("lfm2"))) as engine:
        yield engine


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda forward: forward.input([5, 6, 7]).attention_mask([[0, 9], [0, 10], [1, 10]]), "read what it hides"),
        (lambda forward: forward.input_at([5, 6, 7], [10, 8, 9]), "in the order of the input"),
        (lambda forward: forward.input_at([5, 6], [9, 9]), "in the order of the input"),
        (lambda forward: forward.input_at([5], [3]), "in the order of the input"),
    ],
)
async def test_what_recurrent_layers_cannot_follow_is_refused(  # F3, F7
    hybrid: Running, change: Callable[[Forward], Forward], why: str
) -> None:
    async def refused() -> None:
        with Context(hybrid.model) as context:
            await context.append(prompt(1, 8)).flush()
            with pytest.raises(InvalidArgumentError, match=why):
                await change(context.forward()).execute()
            whole = context.forward().input_at([5, 6, 7], [8, 9, 12]).attention_mask([[0, 9], [0, 10], [0, 11]])
            await whole.execute()
            assert context.seq_len == 11

    await in_context(hybrid, refused())


async def test_steps_of_a_hybrid_are_computed_before_they_are_asked_for(
    hybrid: Running, monkeypatch: pytest.MonkeyPatch
) -> None:  # G14
    async def ticks(collects: bool, seconds: float) -> tuple[list[int], list[TickCompleted]]:
        monkeypatch.setattr(continuation, "LONGEST_SECONDS", seconds)
        first = len(hybrid.events)
        with Context(hybrid.model) as context:
            generator = context.append(prompt(1, 8)).generate(
                Sampler.argmax(), max_tokens=40, stop=[], auto_flush=False
            )
            drawn = await (generator.collect_tokens() if collects else step_by_step(generator))
        return drawn, [event for event in hybrid.events[first:] if isinstance(event, TickCompleted)]

    plain, one_by_one = await in_context(hybrid, ticks(collects=False, seconds=0.0))
    assert sum(tick.ahead for tick in one_by_one) >= 35
    for collects, seconds in ((True, 0.0), (False, 1000.0)):
        drawn, found = await in_context(hybrid, ticks(collects, seconds))
        assert drawn == plain
        assert len(found) <= 12


@pytest.mark.parametrize(("fail", "step"), [(lost, 2), (lost, 4), (no_numbers, 5)])
async def test_what_a_failed_pass_has_computed_is_forgotten(
    tiny_model_directory: Callable[[str], Path], fail: Callable[[mx.array], mx.array], step: int
) -> None:  # E3, E4
    directory = tiny_model_directory("qwen3_next")
    np.testing.assert_array_equal(await after(directory, fail, step), await after(directory, None, 0))


async def stubborn(engine: Running, at_once: int) -> tuple[list[int], int]:
    """A text of a program that goes on after failures, `at_once` steps at a time; and how often it failed."""
    drawn, failures = list[int](), 0
    with Context(engine.model) as context:
        context.append(prompt(1, 8))
        while len(drawn) < 30:
            steps = context.generate(Sampler.argmax(), max_tokens=30 - len(drawn), stop=[], auto_flush=False)
            try:
                async for step in steps:
                    drawn += (await step.up_to(at_once).execute()).tokens
            except BatchFailedError:
                failures += 1
    return drawn, failures


@pytest.mark.parametrize("fail", [lost, no_numbers])
@pytest.mark.parametrize("at_once", [1, 8])
async def test_a_step_that_fails_after_others_leaves_the_state_before_it(  # E3, E4
    hybrid: Running, monkeypatch: pytest.MonkeyPatch, fail: Callable[[mx.array], mx.array], at_once: int
) -> None:
    monkeypatch.setattr(continuation, "LONGEST_SECONDS", 1000.0)
    expected, _ = await in_context(hybrid, stubborn(hybrid, at_once))
    for number in (4, 9, 14):
        with monkeypatch.context() as patch:
            failing = Failing(hybrid, number, fail, patch)
            drawn, failures = await in_context(hybrid, stubborn(hybrid, at_once))
        assert drawn == expected
        assert failing.left < 0
        assert failures <= 1
