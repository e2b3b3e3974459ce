"""`pie serve`"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from pie_mlx.cli.options import Common, common_options


@dataclass(frozen=True, slots=True)
class ServeRequest:
    """One use of `pie serve`; None leaves a value to the configuration."""

    host: str | None
    port: int | None
    no_auth: bool
    model: str | None
    dummy: bool
    record: Path | None
    monitor: bool
    no_snapshot: bool


@click.command
@click.option("--host", metavar="HOST", help="Listen on this address.")
@click.option("--port", type=click.IntRange(0, 65535), metavar="N", help="Listen on this port; 0: any free one.")
@click.option("--no-auth", is_flag=True, help="Ask nobody for a key; on this machine only.")
@click.option("--model", metavar="NAME|REPO|DIR", help="Serve this model.")
@click.option("--dummy", is_flag=True, help="Random tokens, no weights.")
@click.option(
    "--record",
    type=click.Path(path_type=Path, dir_okay=False),
    envvar="PIE_LOG",
    metavar="FILE",
    help="Record all events; PIE_LOG names the file as well.",
)
@click.option("-m", "--monitor", is_flag=True, help="Show the monitor; leaving it leaves the engine running.")
@click.option("--no-snapshot", is_flag=True, hidden=True)
@common_options
@click.pass_obj
def command(common: Common, **given: Any) -> int:
    """Start an engine that clients can use, and keep it running until Ctrl-C.

    \b
    pie serve --port 0 &
    pie run examples/hello
    """
    from pie_mlx.cli.serving import serve

    return serve(ServeRequest(**given), common)
