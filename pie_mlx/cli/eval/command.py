"""`pie eval`"""

from pathlib import Path
from typing import Any

import click

from pie_mlx.cli.options import Common, Number, Whole, common_options


@click.command(options_metavar="[OPTIONS]")
@click.argument("dataset", type=click.Path(path_type=Path, dir_okay=False))
@click.argument("program", metavar="PATH", type=click.Path(path_type=Path))
@click.option("--model", metavar="NAME|REPO|DIR", help="Run on this model.")
@click.option("--dummy", is_flag=True, help="Random tokens, no weights.")
@click.option("--check", metavar="NAME|MODULE:FUNCTION", help="How results are scored; rows may name their own checks.")
@click.option("-j", "--jobs", type=Whole(min=1), default=8, show_default=True, metavar="N", help="Rows run at a time.")
@click.option("--limit", type=Whole(min=1), metavar="N", help="Only the first N rows.")
@click.option("--token-budget", type=Whole(min=1), metavar="N", help="The most tokens a row may compute.")
@click.option("--min-score", type=Number(0, 1), metavar="S", help="Fail with code 3 below this score.")
@common_options
@click.pass_context
def command(ctx: click.Context, **given: Any) -> int:
    """Score a program over the rows of DATASET, and show which became better or worse since the last run.

    DATASET has one JSON object a line: "input", and "expected" or a "check". Checks are exact, contains, regex,
    json-schema, number (with a "tolerance"), or a Python function of result and expected that --check names. The score
    of a row is from 0 to 1; a program that fails has 0. It starts an engine of its own.

    \b
    pie eval questions.jsonl answer.py --check contains --min-score 0.9
    """
    from pie_mlx.cli.eval.evaluation import EvalRequest, evaluate

    return evaluate(EvalRequest(**given), ctx.ensure_object(Common))
