"""`pie serve`"""

from pathlib import Path
from typing import Any

import click

from pie_mlx.cli.engine.completions import complete_model_or_path
from pie_mlx.cli.options import Common, Whole, common_options

ELSEWHERE = {
    "--api-key": "'pie auth add' says who may connect",
    "--gpu-memory-utilization": "it is model.0.engine.kv_memory_fraction of 'pie config'",
    "--max-num-batched-tokens": "it is model.0.engine.max_forward_tokens of 'pie config'",
    "--max-num-seqs": "it is model.0.engine.max_forward_requests of 'pie config'",
    "--tensor-parallel-size": "an engine has one device",
}
"""What to use instead of vLLM's options."""


class ServeCommand(click.Command):
    """Suggests the right option for those of other servers."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            if error.option_name not in ELSEWHERE:
                raise
            said = f"No such option '{error.option_name}': {ELSEWHERE[error.option_name]}"
        except (click.BadParameter, click.BadOptionUsage):
            raise
        except click.UsageError as error:
            said = f"{error.format_message()}: a model is named by --model"
        raise click.UsageError(said, ctx)


@click.command(cls=ServeCommand)
@click.option("--host", metavar="HOST", help="Listen on this address.")
@click.option("--port", type=Whole(0, 65535), metavar="N", help="Listen on this port; 0: any free one.")
@click.option("--no-auth", is_flag=True, help="Accept clients without a key; on this machine only.")
@click.option(
    "--model",
    metavar="NAME|REPO|DIR",
    multiple=True,
    shell_complete=complete_model_or_path,
    help="Serve this model; may be repeated, the first is the default.",
)
@click.option("--dummy", is_flag=True, help="Random tokens, no weights.")
@click.option(
    "--record",
    type=click.Path(path_type=Path, dir_okay=False),
    envvar="PIE_LOG",
    metavar="FILE",
    help="Record all events; PIE_LOG names the file as well.",
)
@click.option("-d", "--detach", is_flag=True, help="Return when it is ready, and leave it running.")
@click.option("-m", "--monitor", is_flag=True, help="Show the monitor. The engine keeps running when you leave it.")
@click.option("--no-snapshot", is_flag=True, hidden=True)
@common_options
@click.pass_obj
def command(common: Common, detach: bool, **given: Any) -> int:
    """Start an engine that clients can use, and keep it running until Ctrl-C, or with -d until 'pie stop'.

    \b
    pie serve -d
    pie run examples/hello
    """
    from pie_mlx.cli.serve.server import ServeRequest, serve

    request = ServeRequest(**given)
    if not detach:
        return serve(request, common)
    if request.monitor or common.url:
        raise click.UsageError("--detach and --monitor, --url exclude each other: 'pie top' shows the monitor")
    from pie_mlx.cli.serve.detached import serve_detached

    return serve_detached(request, common)
