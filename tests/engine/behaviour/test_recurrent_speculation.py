"""Speculation on models with recurrent layers: the tokens of plain decoding, whatever is drafted and by whom."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from inferlet import Sampler
from pie_mlx.engine.speculation.drafting import Allowance, WindowCost
from pie_mlx.events import PassCompleted
from tests.engine.acts import LEANING, PENALIZED, WARM
from tests.engine.behaviour.test_speculation import Guessing, generated
from tests.engine.running import Running, engine_alone, in_context, small_prompt

SAMPLERS = [Sampler.argmax(), WARM, PENALIZED, LEANING]


@pytest.fixture(scope="module")
def engine(tiny_model_directory: Callable[[str], Path]) -> Iterator[Running]:
    """One hybrid drafts for another, of which it knows nothing."""
    models = [str(tiny_model_directory(architecture)) for architecture in ("qwen3_next", "lfm2")]
    with engine_alone(model=models[0], draft_model=models[1]) as started:
        yield started


@pytest.fixture(scope="module")
def knowing(tiny_model_directory: Callable[[str], Path]) -> Iterator[Running]:
    """A hybrid drafts for itself."""
    model = str(tiny_model_directory("lfm2"))
    with engine_alone(model=model, draft_model=model) as started:
        yield started


@pytest.fixture(autouse=True)
def may_guess(monkeypatch: pytest.MonkeyPatch) -> None:
    """Verifying costs little and trying is allowed, whatever this machine took for the drafts of other tests."""
    monkeypatch.setattr(WindowCost, "steps", lambda cost, contexts, drafts=None: 0.25)
    monkeypatch.setattr(Allowance, "step", lambda allowance: True)


@pytest.mark.parametrize("sampler", SAMPLERS)
async def test_drafts_of_a_program_change_nothing(engine: Running, sampler: Sampler) -> None:  # T38
    async def compare() -> None:
        prompt, options = small_prompt(30), {"sampler": sampler}
        plain = await generated(engine, prompt, options)
        assert len(set(plain.tokens)) > 8
        for lengths, errors in ([4], set[int]()), ([3, 5, 0, 2], {3, 7, 8, 15, 20}), ([6], set(range(24))):
            drafts: Callable[[Any], Any] = lambda context: Guessing(context, plain.tokens, lengths, errors)  # noqa: B023, E731
            assert await generated(engine, prompt, options, speculator=drafts) == plain

    await in_context(engine, compare())


async def guesses(engine: Running, prompt: list[int]) -> tuple[int, int]:
    """How many tokens were guessed by the engine, and how many of them right, where the text stays the same."""
    plain = await in_context(engine, generated(engine, prompt, {"max_tokens": 32}))
    engine.events.clear()
    assert await in_context(engine, generated(engine, prompt, {"max_tokens": 32}, system_speculation=True)) == plain
    passes = [event for event in engine.events if isinstance(event, PassCompleted)]
    return sum(one.guessed_tokens for one in passes), sum(one.guessed_right for one in passes)


async def test_a_hybrid_drafts_for_another(engine: Running) -> None:  # T38
    guessed, right = await guesses(engine, small_prompt(40, 2))
    assert right < guessed


async def test_a_hybrid_that_knows_is_right(knowing: Running) -> None:  # T38
    guessed, right = await guesses(knowing, small_prompt(40, 3))
    assert 0.8 * guessed < right
    assert right > 16
