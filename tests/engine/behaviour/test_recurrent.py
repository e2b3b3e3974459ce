"""Models with recurrent layers in a pool that is too small for all."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import mlx.core as mx
import numpy as np
import pytest

from pie_mlx.engine.model.networks.network import Network
from pie_mlx.engine.model.step import StepInput
from pie_mlx.errors import BatchFailedError, OutOfPagesError
from pie_mlx.events import ContextSuspended
from pie_mlx.metal import PageMemory
from pie_mlx.sdk import Context, Logits, Sampler
from tests.engine.running import Running, number_of, running


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
        assert not engine.store.contexts[number_of(first)].resident
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
    with running(model=str(tiny_model_directory("qwen3_next")), total_pages=12) as engine:
        source = await held(engine, 1)
        expected = await logits(source.fork())
        found = await asyncio.gather(*[logits(source.fork()) for _ in range(20)])
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

    def __init__(self, engine: Running, number: int, fail: Callable[[mx.array], mx.array]) -> None:
        self.left, self._fail = number, fail
        self._network: Network = engine.core.services.runner.model.network
        self._forward = self._network.forward
        self._network.forward = self.forward

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
    """The logits behind a prompt of three chunks, of which a step may have failed once."""
    with running(model=str(directory), prefill_chunk_tokens=48) as engine:
        context = await held(engine, 1)
        context.append(prompt(2, 100))
        if fail is not None:
            Failing(engine, step, fail)
            with pytest.raises(BatchFailedError):
                await context.flush() if step < 5 else await flushed_logits(context)
        await context.flush()
        return await logits(context)


async def flushed_logits(context: Context) -> None:
    await context.flush()
    await logits(context)


@pytest.mark.parametrize(("fail", "step"), [(lost, 2), (lost, 4), (no_numbers, 5)])
async def test_what_a_failed_pass_has_computed_is_forgotten(
    tiny_model_directory: Callable[[str], Path], fail: Callable[[mx.array], mx.array], step: int
) -> None:  # E3, E4
    directory = tiny_model_directory("qwen3_next")
    np.testing.assert_array_equal(await after(directory, fail, step), await after(directory, None, 0))
