"""`pie replay`"""

import json
import os
from pathlib import Path

import click

from pie_mlx.cli.engine.completions import complete_model_or_path
from pie_mlx.cli.options import Common, common_options

DIFFERS = 3
"""Exit code for a program that does not do what was recorded."""


@click.command
@click.argument("recording", type=click.Path(path_type=Path, dir_okay=False))
@click.argument("program", required=False, type=click.Path(path_type=Path))
@click.option("--live", is_flag=True, help="Go on with a model from the first call that differs.")
@click.option(
    "--model", metavar="NAME|REPO|DIR", shell_complete=complete_model_or_path, help="With --live: this model."
)
@click.option("--dummy", is_flag=True, help="With --live: random tokens, no weights.")
@click.option(
    "--mcp", type=click.Path(path_type=Path), metavar="FILE", help="With --live: the servers of an .mcp.json."
)
@common_options
@click.pass_obj
def command(
    common: Common,
    recording: Path,
    program: Path | None,
    *,
    live: bool,
    model: str | None,
    dummy: bool,
    mcp: Path | None,
) -> int:
    """Run a program against what 'pie run --record' recorded: without model, tools and clients.

    PROGRAM is the changed source; without it, that at the recorded path, or else the recorded one. The replay goes on
    as long as the program's calls agree, and shows the first one that differs. Children are replayed as well.

    The exit code is 0 if everything agrees, 3 at a difference, 1 if the recording cannot be replayed.

    With --live the first recorded program goes on from there: an engine of its own, with the recorded model, reads
    what its contexts held, and answers all later calls. Lines you type are its messages. The exit code is that of
    'pie run'.
    """
    if live:
        from pie_mlx.cli.replay.live import LiveRequest, run_live

        return run_live(LiveRequest(recording, program, model, dummy, mcp), common)
    if model is not None or dummy or mcp is not None:
        raise click.UsageError("--model, --dummy and --mcp go with --live: a replay has no engine")
    import msgspec

    from pie_mlx.config import load_config, pie_home
    from pie_mlx.runtime.replay.launch import replay_recording
    from pie_mlx.runtime.worker.settings import WorkerSettings

    runtime = load_config(common.config).config.runtime
    settings = WorkerSettings(sandbox=runtime.sandbox)
    replayed = replay_recording(recording, program, pie_home(os.environ), settings, environment=os.environ)
    for one in replayed:
        if common.json:
            print(json.dumps(msgspec.to_builtins(one), ensure_ascii=False))
        elif not common.quiet or one.state == "differs":
            print(one.report())
    return DIFFERS if any(one.state == "differs" for one in replayed) else 0
