"""Runs a program over the rows of a data set."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pie_mlx.runtime.engine import Engine
from pie_mlx.runtime.evaluation.checks import Check
from pie_mlx.runtime.evaluation.dataset import Row
from pie_mlx.runtime.execution.outcome import Failed
from pie_mlx.runtime.program.program import Program


@dataclass(frozen=True, slots=True)
class Scored:
    """A row with its score, the mean of its checks. `error` is why the program failed, with the score 0."""

    row: Row
    score: float
    result: Any = None
    error: str = ""


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

    Raises what a check raises, and then ends what runs.
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
            points = [check(result) for check in checks]
            scored = Scored(row, sum(points) / len(points), result)
        notify(scored)
        return scored

    tasks = [asyncio.create_task(score(row, checks)) for row, checks in rows]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
