"""Run the cases of a plan, and return the report."""

import tempfile
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from pie_mlx.bench.comparison import Row
from pie_mlx.bench.contest import Contest, PeakPages, Sizes
from pie_mlx.bench.machine import machine, today, versions
from pie_mlx.bench.masks import compare_masks
from pie_mlx.bench.peer import MlxLm
from pie_mlx.bench.phases import profile
from pie_mlx.bench.random_llama import DESCRIPTION, write_random_llama
from pie_mlx.bench.report import Report
from pie_mlx.engine.model.loading.sources import find_model
from pie_mlx.engine.settings import EngineSettings
from pie_mlx.runtime.engine import Engine

CASES = ("decode", "batch-8", "batch-32", "continuations", "equal-prompt", "best-of-n", "agent", "grammar")
PROFILED_STREAMS = (1, 8, 32)
PAGES = 4096
QUICK = Sizes(new_tokens=16, repeats=1, shared_prompt=256)

Begin = Callable[[Report], None]
Show = Callable[[Row], None]


@dataclass(frozen=True, slots=True)
class Plan:
    """What to measure. `model` None is a Llama with random weights; `dtype` None keeps each side's own."""

    model: str | None = None
    dtype: str | None = None
    cases: Sequence[str] = CASES
    sizes: Sizes = field(default_factory=Sizes)
    profile: bool = False
    pages: int = PAGES


async def measure(plan: Plan, command: str, begin: Begin, show: Show) -> Report:
    """Run all cases. `begin` is called with the conditions before the first row, `show` with each row.

    Raises InvalidArgumentError when the conditions of the two sides differ, ModelError and OutOfPagesError.
    """
    if plan.model is not None:
        directory = find_model(plan.model, allow_download=False, progress=_ignore)
        return await _measure(plan, directory, plan.model, command, begin, show)
    with tempfile.TemporaryDirectory() as scratch:
        write_random_llama(Path(scratch))
        return await _measure(plan, Path(scratch), DESCRIPTION, command, begin, show)


async def _measure(plan: Plan, directory: Path, name: str, command: str, begin: Begin, show: Show) -> Report:
    pages = PeakPages()
    settings = EngineSettings(
        str(directory), name=name, dtype=plan.dtype or "auto", total_pages=plan.pages, max_batch_contexts=64
    )
    async with Engine(settings, on_event=pages.on_event) as engine:
        contest = Contest(engine, MlxLm(directory, plan.dtype), pages, plan.sizes)
        dtype, blas = await contest.check()
        report = Report(today(), machine(), versions(), name, dtype, blas, command)
        begin(report)
        known = _cases(contest, engine, plan.sizes)
        for case in plan.cases:
            for work in known[case]:
                for row in await work():
                    report.rows.append(row)
                    show(row)
    if plan.profile:
        async with Engine(settings, runs_ahead=False) as engine:
            report.profiles.extend(await profile(engine, PROFILED_STREAMS, plan.sizes.new_tokens))
    return report


def _cases(
    contest: Contest, engine: Engine, sizes: Sizes
) -> Mapping[str, Sequence[Callable[[], Awaitable[list[Row]]]]]:
    return {
        "decode": [contest.decode],
        "batch-8": [partial(contest.batch, 8)],
        "batch-32": [partial(contest.batch, 32)],
        "continuations": [contest.continuations, contest.copied_cache],
        "equal-prompt": [contest.equal_prompt],
        "best-of-n": [contest.best_of],
        "agent": [contest.agent],
        "grammar": [partial(compare_masks, engine, sizes.repeats)],
    }


def _ignore(line: str) -> None:
    del line
