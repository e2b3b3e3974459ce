"""Runs a program over the rows of a data set."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pie_mlx.runtime.engine import Engine
from pie_mlx.runtime.evaluation.checks import Check
from pie_mlx.runtime.evaluation.dataset import Row
from pie_mlx.runtime.evaluation.time_limit import time_limit
from pie_mlx.runtime.execution.outcome import Failed
from pie_mlx.runtime.program.program import Program


@dataclass(frozen=True, slots=True)
class Scored:
    """A row with its score, the mean of its checks. `error` is why the program or a check failed, with the score 0."""

    row: Row
    score: float
    result: Any = None
    error: str = ""


CHECK_SECONDS = 5.0
"""How long the checks of a row may take: those of a data set are somebody else's."""


async def score_rows(
    engine: Engine,
    program: Program,
    rows: Sequence[tuple[Row, Sequence[Check]]],
    *,
    jobs: int,
    username: str,
    token_budget: int | None,
    notify: Callable[[Scored], None],
) -> list[Scored]:
    """The scores, in the order of the rows, `jobs` of which run at a time. `notify` gets each when it is there.

    Raises what a check raises, and then ends what runs. Belongs to the main thread, where checks can be interrupted.
    """
    places = asyncio.Semaphore(jobs)

    async def score(row: Row, checks: Sequence[Check]) -> Scored:
        async with places:
            process = await engine.launch(
                program, row.input, capture_output=True, username=username, token_budget=token_budget
            )
            process.close_session()
            try:
                outcome = await process.outcome()
            except asyncio.CancelledError:
                process.cancel()
                await process.outcome()
                raise
        if isinstance(outcome, Failed):
            scored = Scored(row, 0.0, error=f"{outcome.error_type}: {outcome.message}")
        else:
            result = outcome.decoded()
            scored = _scored(row, checks, result)
        notify(scored)
        return scored

    tasks = [asyncio.create_task(score(row, checks)) for row, checks in rows]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _scored(row: Row, checks: Sequence[Check], result: Any) -> Scored:
    try:
        with time_limit(CHECK_SECONDS):
            points = [check(result) for check in checks]
    except TimeoutError:
        return Scored(row, 0.0, result, f"its check took longer than {CHECK_SECONDS:g} s")
    return Scored(row, sum(points) / len(points), result)
