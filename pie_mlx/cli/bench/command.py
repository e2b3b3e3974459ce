"""`pie bench`"""

from typing import Any

import click

from pie_mlx.cli.options import Common, Whole, common_options

CASES = ("decode", "batch-8", "batch-32", "continuations", "equal-prompt", "best-of-n", "agent", "grammar")


@click.command(options_metavar="[OPTIONS]")
@click.option(
    "--model", metavar="REPO|DIR", help="Compare on this model; a small Llama with random weights if not given."
)
@click.option("--dtype", type=click.Choice(["float32", "float16", "bfloat16"]), help="The number format on both sides.")
@click.option("--case", "cases", multiple=True, type=click.Choice(CASES), help="Run only this case. Repeatable.")
@click.option("--new-tokens", type=Whole(min=4), metavar="N", help="Tokens each stream writes (64).")
@click.option("--repeats", type=Whole(min=1), metavar="N", help="Rounds; the one with the median ratio counts (3).")
@click.option("--pages", type=Whole(min=64), metavar="N", help="Pages of the engine's pool (4096).")
@click.option("--quick", is_flag=True, help="One short round, to see that it works; not a measurement.")
@click.option("--profile", is_flag=True, help="Also print where the time of a step goes.")
@click.option("--markdown", is_flag=True, help="Print a Markdown table.")
@common_options
@click.pass_context
def command(ctx: click.Context, **given: Any) -> int:
    """Compare this engine with mlx-lm and llguidance on this machine: the same work on the same model, in turns.

    It refuses to compare unlike things: both sides must have the same weights, number format and BLAS.

    \b
    pie bench --quick
    """
    common = ctx.ensure_object(Common)
    if given["markdown"] and common.json:
        raise click.UsageError("--markdown and --json exclude each other")
    from pie_mlx.cli.bench.measure import BenchRequest, bench

    return bench(BenchRequest(**given), common)
