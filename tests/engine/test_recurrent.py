"""Models with recurrent layers, whose state is not in pages, in a pool that is too small for all."""

import asyncio
from collections.abc import Callable
from pathlib import Path

from pie_mlx.errors import OutOfPagesError
from pie_mlx.events import ContextSuspended
from pie_mlx.sdk import Context, Sampler
from tests.engine.running import Running, running


async def text(engine: Running, seed: int) -> list[int]:
    with Context(engine.model) as context:
        context.append([5 + (seed * 37 + place * 11) % 200 for place in range(30)])
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


async def test_nobody_is_suspended_whose_state_would_be_computed_twice(
    tiny_model_directory: Callable[[str], Path],
) -> None:  # R6
    directory = tiny_model_directory("qwen3_next")
    expected, _ = await outcomes(directory, 64, together=False)
    found, suspensions = await outcomes(directory, 7, together=True)
    assert suspensions == 0
    pairs = list(zip(found, expected, strict=True))
    assert any(outcome == tokens for outcome, tokens in pairs)
    assert all(outcome == tokens or isinstance(outcome, OutOfPagesError) for outcome, tokens in pairs)
