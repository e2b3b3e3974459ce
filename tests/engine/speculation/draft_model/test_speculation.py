"""Generating with a draft model: the tokens of plain decoding, whatever it guesses."""

import asyncio
import shutil
from pathlib import Path
from typing import Any

import mlx.core as mx
import pytest

from benchmarks.random_llama import write_random_llama
from inferlet import Context, Regex, Sampler
from pie_mlx.errors import BatchFailedError
from pie_mlx.events import PassCompleted
from tests.engine.acts import PENALIZED
from tests.engine.behaviour.test_speculation import generated
from tests.engine.running import Running, running
from tests.engine.speculation.draft_model.conftest import SMALL

SAMPLERS = [Sampler.argmax(), Sampler.multinomial(0.9, seed=5), Sampler.top_p(0.8, 0.95, seed=3)]
OPTIONS: list[dict[str, Any]] = [
    {"max_tokens": 40},
    {"max_tokens": 40, "sampler": SAMPLERS[1]},
    {"max_tokens": 40, "sampler": SAMPLERS[2]},
    {"max_tokens": 40, "constrain": Regex(r"([a-z]{1,6} ){2,6}\.")},
    {"max_tokens": 17, "stop": [40, 41, 42]},
    {"max_tokens": 40, "sampler": PENALIZED},
]


async def written(engine: Running, options: dict[str, Any], seed: int = 1) -> tuple[Any, Any, int, int]:
    """What is written without and with drafts, and how many were guessed and right."""
    prompt = engine.prompt(20, seed)
    plain = await generated(engine, prompt, options)
    engine.events.clear()
    drafted = await generated(engine, prompt, options, system_speculation=True)
    passes = [event for event in engine.events if isinstance(event, PassCompleted)]
    return plain, drafted, sum(one.guessed_tokens for one in passes), sum(one.guessed_right for one in passes)


@pytest.mark.parametrize("options", OPTIONS)
async def test_a_draft_model_that_knows_changes_nothing(knowing: Running, options: dict[str, Any]) -> None:  # T38
    plain, drafted, guessed, right = await written(knowing, options)
    assert drafted == plain
    assert 0 < right <= guessed


@pytest.mark.parametrize("options", OPTIONS)
async def test_a_draft_model_that_knows_nothing_changes_nothing(ignorant: Running, options: dict[str, Any]) -> None:
    plain, drafted, _, _ = await written(ignorant, options)  # T38
    assert drafted == plain


async def test_streams_share_the_draft_model(knowing: Running) -> None:  # Q10
    prompts = [knowing.prompt(10 + 3 * number, number) for number in range(6)]
    alone = [await generated(knowing, prompt, {}) for prompt in prompts]
    drafts: list[dict[str, Any]] = [{"system_speculation": bool(number % 3)} for number in range(6)]
    together = await asyncio.gather(
        *(generated(knowing, prompt, {}, **more) for prompt, more in zip(prompts, drafts, strict=True))
    )
    assert list(together) == alone


async def test_forks_go_on_by_themselves(knowing: Running) -> None:
    options: dict[str, Any] = {"stop": [], "auto_flush": False}
    with Context(knowing.model) as root:
        root.append(knowing.prompt(40, 6))
        start = await root.generate(SAMPLERS[0], max_tokens=12, system_speculation=True, **options).collect_tokens()
        with root.fork() as child, root.fork() as other:
            plain = await other.generate(SAMPLERS[0], max_tokens=24, **options).collect_tokens()
            drafted = await child.generate(
                SAMPLERS[0], max_tokens=24, system_speculation=True, **options
            ).collect_tokens()
            assert len(start) == 12
            assert drafted == plain


async def test_a_suspended_context_drafts_on(knowing: Running) -> None:  # R7
    prompt = knowing.prompt(40, 7)
    plain = await generated(knowing, prompt, {"max_tokens": 24})
    options: dict[str, Any] = {"stop": [], "auto_flush": False, "system_speculation": True, "max_tokens": 12}
    with Context(knowing.model) as context:
        context.append(prompt)
        first = await context.generate(SAMPLERS[0], **options).collect_tokens()
        context.suspend()
        assert first + await context.generate(SAMPLERS[0], **options).collect_tokens() == plain.tokens


async def test_probes_masks_and_truncation_do_not_matter_to_the_draft_model(knowing: Running) -> None:
    options: dict[str, Any] = {"stop": [], "auto_flush": False, "max_tokens": 10}
    texts: list[list[int]] = []
    for speculate in (False, True):
        with Context(knowing.model) as context:
            context.append(knowing.prompt(30, 8))
            found = await context.generate(SAMPLERS[0], system_speculation=speculate, **options).collect_tokens()
            context.truncate(5)
            context.append(knowing.prompt(9, 9))
            found += await context.generate(SAMPLERS[0], system_speculation=speculate, **options).collect_tokens()
            texts.append(found)
    assert texts[0] == texts[1]


async def test_more_contexts_than_the_draft_model_has_room_for() -> None:
    with running(draft_model="pie-tiny", total_pages=24) as small:

        async def write(seed: int, **more: Any) -> list[int]:
            with small.process():
                return (await generated(small, small.prompt(40, seed), {"max_tokens": 20}, **more)).tokens

        alone = [await write(seed) for seed in range(8)]
        assert await asyncio.gather(*(write(seed, system_speculation=True) for seed in range(8))) == alone
        small.check_books()


async def test_a_draft_model_that_fails_says_so(tmp_path: Path) -> None:  # E4
    write_random_llama(tmp_path, **SMALL)
    weights = mx.load(str(tmp_path / "model.safetensors"))
    broken = {name: mx.full(array.shape, mx.nan) for name, array in weights.items()}  # type: ignore[union-attr]
    mx.save_safetensors(str(tmp_path / "model.safetensors"), broken, metadata={"format": "mlx"})
    with running(draft_model=str(tmp_path)) as engine:
        plain = await generated(engine, engine.prompt(20, 1), {})
        with pytest.raises(BatchFailedError, match="draft model"):
            await generated(engine, engine.prompt(20, 1), {}, system_speculation=True)
        assert await generated(engine, engine.prompt(20, 1), {}) == plain
    shutil.rmtree(tmp_path)
