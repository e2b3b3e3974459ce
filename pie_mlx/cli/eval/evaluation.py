"""One use of `pie eval`."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pie_mlx.cli.engine.model_settings import requested_settings
from pie_mlx.cli.options import Common
from pie_mlx.cli.programs.installed import local_store
from pie_mlx.cli.run.local import own_engine
from pie_mlx.cli.terminal.errors import INTERRUPTED
from pie_mlx.cli.terminal.interrupts import Protect, run_interruptible
from pie_mlx.cli.terminal.progress import progress_line
from pie_mlx.cli.terminal.text import table, without_controls
from pie_mlx.config import load_config, pie_home
from pie_mlx.config.schema import Config
from pie_mlx.plural import plural
from pie_mlx.runtime.evaluation.checks import Check, check_named, checks_of
from pie_mlx.runtime.evaluation.dataset import Row, read_dataset
from pie_mlx.runtime.evaluation.history import History
from pie_mlx.runtime.program.program import Program, find_program
from pie_mlx.system import login_name

if TYPE_CHECKING:
    from pie_mlx.runtime.evaluation.run import Scored

BELOW = 3
"""Exit code for a score below `--min-score`."""
_SHOWN_CHARACTERS = 60


@dataclass(frozen=True, slots=True)
class EvalRequest:
    """What the command line asks for."""

    dataset: Path
    program: Path
    model: str | None
    dummy: bool
    check: str | None
    jobs: int
    limit: int | None
    token_budget: int | None
    min_score: float | None


def evaluate(request: EvalRequest, common: Common) -> int:
    """Score, print, and return the exit code. Raises PieError before an engine starts, and for what a check raises."""
    chosen = check_named(request.check) if request.check is not None else None
    rows = [(row, checks_of(row, chosen)) for row in read_dataset(request.dataset)[: request.limit]]
    config = load_config(common.config).config
    program = find_program(request.program)
    if program.manifest.dependencies:
        program = local_store(config.auth).resolved(program)
    history = History.of(pie_home(os.environ), request.dataset, request.program, request.check or "")
    last = history.read()
    try:
        scored = run_interruptible(partial(_score, request, common, config, program, rows))
    except KeyboardInterrupt:
        return INTERRUPTED
    history.write(last | {one.row.id: one.score for one in scored})
    score = sum(one.score for one in scored) / len(scored)
    print(_as_json(scored, score, last) if common.json else _as_table(scored, score, last, quiet=common.quiet))
    return BELOW if request.min_score is not None and score < request.min_score else 0


async def _score(
    request: EvalRequest,
    common: Common,
    config: Config,
    program: Program,
    rows: Sequence[tuple[Row, Sequence[Check]]],
    protect: Protect,
) -> "list[Scored]":
    settings = requested_settings(request.model, dummy=request.dummy, common=common)
    with progress_line(common) as (progress, _):
        # Loads MLX and the model libraries, so the command line is checked first.
        from pie_mlx.runtime.evaluation.run import score_rows

        async with own_engine(settings, config, (), progress) as engine:
            protect()
            done: list[float] = []

            def notify(one: "Scored") -> None:
                done.append(one.score)
                progress(f"{len(done)} of {len(rows)} rows, score {sum(done) / len(done):.2f}")

            return await score_rows(
                engine,
                program,
                rows,
                jobs=request.jobs,
                username=login_name(),
                token_budget=request.token_budget,
                notify=notify,
            )


def _as_table(scored: "Sequence[Scored]", score: float, last: Mapping[str, float], *, quiet: bool) -> str:
    """The rows that are not right, or changed, and a summary."""
    if quiet:
        return f"{score:.3f}"
    rows = [
        [_change(one, last), one.row.name, f"{one.score:.2f}", _was(one, last), _shown(one)]
        for one in scored
        if one.score < 1 or _change(one, last)
    ]
    shown = [table(["", "ROW", "SCORE", "LAST", "RESULT"], rows), ""] if rows else []
    return "\n".join([*shown, _summary(scored, score, last)])


def _summary(scored: "Sequence[Scored]", score: float, last: Mapping[str, float]) -> str:
    right = sum(one.score == 1 for one in scored)
    text = f"score {score:.3f}: {right} of {plural(len(scored), 'row is', 'rows are')} right"
    before = [last[one.row.id] for one in scored if one.row.id in last]
    if not before:
        return text
    changes = [_change(one, last) for one in scored]
    counted = f"{changes.count('better')} better, {changes.count('worse')} worse"
    return f"{text}; last time {sum(before) / len(before):.3f}: {counted}"


def _change(one: "Scored", last: Mapping[str, float]) -> str:
    before = last.get(one.row.id, one.score)
    return "better" if one.score > before else "worse" if one.score < before else ""


def _was(one: "Scored", last: Mapping[str, float]) -> str:
    return f"{last[one.row.id]:.2f}" if one.row.id in last else ""


def _shown(one: "Scored") -> str:
    text = one.error or (one.result if isinstance(one.result, str) else json.dumps(one.result, ensure_ascii=False))
    line = " ".join(without_controls(text).split())
    return line if len(line) <= _SHOWN_CHARACTERS else f"{line[:_SHOWN_CHARACTERS]}..."


def _as_json(scored: "Sequence[Scored]", score: float, last: Mapping[str, float]) -> str:
    def row(one: "Scored") -> dict[str, Any]:
        return {
            "id": one.row.id,
            "name": one.row.name,
            "score": one.score,
            "last_score": last.get(one.row.id),
            "result": one.result,
            "error": one.error,
        }

    return json.dumps({"score": score, "rows": [row(one) for one in scored]}, ensure_ascii=False)
