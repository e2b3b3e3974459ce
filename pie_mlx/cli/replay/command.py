"""`pie replay`"""

import json
import os
from pathlib import Path

import click

from pie_mlx.cli.options import Common, common_options

DIFFERS = 3
"""Exit code for a program that does not do what was recorded."""


@click.command
@click.argument("recording", type=click.Path(path_type=Path, dir_okay=False))
@click.argument("program", required=False, type=click.Path(path_type=Path))
@common_options
@click.pass_obj
def command(common: Common, recording: Path, program: Path | None) -> int:
    """Run a program against what 'pie run --record' recorded: without model, tools and clients.

    PROGRAM is the changed source; without it, that at the recorded path, or else the recorded one. The replay goes on
    as long as the program's calls agree, and shows the first one that differs. Children are replayed as well.

    The exit code is 0 if everything agrees, 3 at a difference, 1 if the recording cannot be replayed.
    """
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
