"""`pie trace`"""

from pathlib import Path

import click

from pie_mlx.cli.options import Common, common_options


@click.command(options_metavar="[OPTIONS]")
@click.argument("what", metavar="FILE|ID")
@click.option(
    "--html", type=click.Path(path_type=Path, dir_okay=False), metavar="PATH", help="Write its conversations as a page."
)
@common_options
@click.pass_obj
def command(common: Common, what: str, html: Path | None) -> None:
    """Print where the time of a program went: its own code, waits by reason, prompts, steps, tools and fetches.

    FILE is what 'pie run --trace' wrote, or a recording; ID is a process of the running engine, whose last events it
    keeps. https://ui.perfetto.dev draws FILE.

    \b
    pie run examples/hello --trace out.json -- --prompt "Hello"
    pie trace out.json
    """
    from pie_mlx.cli.trace import report

    report.show(common, what, html)
