"""`pie top`"""

from pathlib import Path
from typing import Any

import click

from pie_mlx.cli.options import Common, Whole, common_options


@click.command(options_metavar="[OPTIONS]")
@click.argument("engines", nargs=-1, metavar="[ENGINE]...")
@click.option("--replay", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="Play a recording.")
@click.option("--demo", is_flag=True, help="Show a scripted engine.")
@click.option("--read-only", is_flag=True, help="Change nothing.")
@click.option("--theme", metavar="NAME", help="Start with this theme.")
@click.option(
    "--keys", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="Read key bindings from this file."
)
@click.option(
    "--alert", multiple=True, metavar="CONDITION", help="Ring the bell when this begins to hold, such as 'failed>0'."
)
@click.option(
    "--until", multiple=True, metavar="CONDITION", help="Draw nothing; end when this holds, with its value, or --json."
)
@click.option("--web", is_flag=True, help="Serve it to a browser on this machine, at an address with a token.")
@click.option("--port", type=Whole(0, 65535), default=0, metavar="N", help="With --web: listen here; 0: any free one.")
@common_options
@click.pass_context
def command(ctx: click.Context, **given: Any) -> int:
    """Watch the programs, pages and prices of an engine, and steer it. With --json, print its state once.

    Several ENGINEs, each an address or a name of monitor-engines.toml, are shown in tabs.

    \b
    pie top --demo
    pie top --until 'price>1'
    """
    common = ctx.ensure_object(Common)
    if given["demo"] and given["replay"]:
        raise click.UsageError("--demo and --replay exclude each other")
    if given["engines"] and (given["demo"] or given["replay"] or common.url):
        raise click.UsageError("engines exclude --demo, --replay and --url")
    if len(given["engines"]) > 1 and (given["until"] or common.json):
        raise click.UsageError("--json and --until are about one engine")
    if given["port"] and not given["web"]:
        raise click.UsageError("--port is for --web")
    from pie_mlx.cli.top.monitor import TopRequest, monitor

    return monitor(TopRequest(**given), common)
