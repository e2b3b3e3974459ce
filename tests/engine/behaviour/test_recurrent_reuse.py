"""Prompts that begin alike, on models with recurrent layers: the second goes on from a kept state."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from inferlet import Context, Logits
from pie_mlx.calls import DescribeRuntime
from pie_mlx.engine.handlers.forward import checkpointing
from pie_mlx.events import PassCompleted
from tests.engine.running import Running, engine_alone, finished

ARCHITECTURES = ["qwen3_next", "falcon_h1", "lfm2", "recurrent_gemma", "rwkv7"]


def prompt(seed: int, tokens: int) -> list[int]:
    return [5 + (seed * 37 + place * 11 + place * place % 7) % 200 for place in range(tokens)]


@pytest.fixture(scope="module", params=ARCHITECTURES)
def started(request: pytest.FixtureRequest, tiny_model_directory: Callable[[str], Path]) -> Iterator[Running]:
    with engine_alone(model=str(tiny_model_directory(request.param)), prefill_chunk_tokens=64) as engine:
        yield engine


@pytest.fixture
def engine(started: Running) -> Iterator[Running]:
    """The engine of an architecture with a program of its own, which finds nothing of those before."""
    with started.process() as host:
        host.call(DescribeRuntime())  # what was let go of has arrived then
        finished(started.core.consult(lambda services: services.queue.empty_cache()))
        yield Running(started.core, started.events, host)
    started.check_books()


async def logits_of(context: Context, tokens: list[int]) -> np.ndarray:
    forward = context.forward().input(tokens)
    probe = forward.probe(len(tokens) - 1, Logits())
    return np.frombuffer((await forward.execute()).logits(probe) or b"", np.float32)


async def last_logits(engine: Running, context: Context, tokens: list[int]) -> tuple[np.ndarray, int]:
    """The logits after `tokens`, and how many of them were attached."""
    found = await logits_of(context, tokens)
    passes = [event for event in engine.events if isinstance(event, PassCompleted)]
    return found, passes[-1].attached_tokens


def alike(found: np.ndarray, expected: np.ndarray) -> bool:
    return float(np.max(np.abs(found - expected)) / np.max(np.abs(expected))) < 1e-4


async def test_an_equal_prompt_computes_its_last_page_only(engine: Running) -> None:
    with Context(engine.model) as first, Context(engine.model) as second:
        expected, none = await last_logits(engine, first, prompt(1, 200))
        found, attached = await last_logits(engine, second, prompt(1, 200))
    assert (none, attached) == (0, 192)
    assert alike(found, expected)


async def test_prompts_that_part_share_what_is_before_from_the_third_on(engine: Running) -> None:
    shared = prompt(1, 100)
    found = [await alone(engine, [*shared, *prompt(seed, 90)]) for seed in (5, 6, 7)]
    assert [attached for _, attached in found] == [0, 0, 96]
    engine.core.services.store.pool.kept_states.clear()
    expected = [await alone(engine, [*shared, *prompt(seed, 90)]) for seed in (5, 6, 7)]
    assert all(alike(logits, other) for (logits, _), (other, _) in zip(found, expected, strict=True))


async def test_within_a_long_prompt_states_are_kept_at_distances(
    engine: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpointing, "FEWEST_BETWEEN", 64)
    distance = max(64, 16 * engine.store.states.pages_each)
    other = [*prompt(1, 190), *prompt(5, 60)]
    expected, _ = await alone(engine, other)
    engine.core.services.queue.empty_cache()
    await alone(engine, prompt(1, 240))
    found, attached = await alone(engine, other)
    assert attached == 176 // distance * distance
    assert alike(found, expected)
    told = [event for event in engine.events if isinstance(event, PassCompleted)][-1]
    assert (told.replayed_tokens, told.computed_tokens) == (176 - attached, 250 - attached)


async def alone(engine: Running, tokens: list[int]) -> tuple[np.ndarray, int]:
    with Context(engine.model) as context:
        return await last_logits(engine, context, tokens)


async def test_of_equal_prompts_that_come_together_one_is_computed(engine: Running) -> None:  # K5
    with Context(engine.model) as first, Context(engine.model) as second:
        found = await asyncio.gather(*[logits_of(context, prompt(1, 200)) for context in (first, second)])
    passes = [event for event in engine.events if isinstance(event, PassCompleted)]
    assert sorted(event.attached_tokens for event in passes[-2:]) == [0, 192]
    assert alike(*found)


async def test_a_second_turn_goes_on_where_the_first_ended(engine: Running) -> None:
    expected, _ = await alone(engine, [*prompt(1, 150), *prompt(2, 100)])
    engine.core.services.store.pool.kept_states.clear()
    with Context(engine.model) as first, Context(engine.model) as second:
        await first.append(prompt(1, 150)).flush()
        await second.append(prompt(1, 150)).flush()
        found, _ = await last_logits(engine, second, prompt(2, 100))
    assert alike(found, expected)


async def test_forgotten_states_are_computed_again(engine: Running) -> None:
    expected, _ = await alone(engine, prompt(1, 200))
    engine.core.services.queue.empty_cache()
    found, attached = await alone(engine, prompt(1, 200))
    assert attached == 0
    assert alike(found, expected)


async def test_a_prompt_at_positions_of_its_own_is_computed_whole(engine: Running) -> None:
    expected, _ = await alone(engine, prompt(1, 150))
    tokens = prompt(1, 150)
    with Context(engine.model) as context:
        await context.append(tokens[:80]).flush()
        forward = context.forward().input_at(tokens[80:], range(80, 150))
        probe = forward.probe(69, Logits())
        assert alike(np.frombuffer((await forward.execute()).logits(probe) or b"", np.float32), expected)
        assert context.seq_len == 150
        gaps = context.forward().input_at(prompt(2, 100), range(200, 400, 2))
        probe = gaps.probe(99, Logits())
        assert (await gaps.execute()).logits(probe)
        assert context.seq_len == 250
