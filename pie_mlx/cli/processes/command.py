"""`pie ps`, `logs`, `attach`, `signal` and `kill`."""

from pathlib import Path

import click

from pie_mlx.cli.engine.completions import complete_logged, complete_process
from pie_mlx.cli.options import Common, Whole, common_options


@click.command
@click.option("-a", "--all", "all_", is_flag=True, help="Include processes that ended recently.")
@click.option("--user", metavar="NAME", help="Only processes of this user.")
@click.option("--models", is_flag=True, help="List the engine's models instead, as 'pie model ps' does.")
@common_options
@click.pass_obj
def ps(common: Common, all_: bool, user: str | None, models: bool) -> None:
    """List processes: who runs what, and why it waits."""
    if models:
        from pie_mlx.cli.engine.running_models import list_running

        list_running(common)
        return
    from pie_mlx.cli.processes import verbs

    verbs.ps(common, all_, user)


@click.command
@click.argument("process", metavar="[ID]", required=False, shell_complete=complete_logged)
@click.option("-f", "--follow", is_flag=True, help="Keep printing until the process ends.")
@click.option("-n", "lines", type=Whole(min=0), metavar="N", help="The last N events only.")
@click.option("--stdout", is_flag=True, help="Standard output only.")
@click.option("--stderr", is_flag=True, help="Standard error only.")
@common_options
@click.pass_obj
def logs(common: Common, process: str | None, follow: bool, lines: int | None, stdout: bool, stderr: bool) -> None:
    """Show the output of a process, also from an earlier run of the engine. Without ID, list the newest logs."""
    from pie_mlx.cli.processes import verbs

    if process is not None:
        verbs.logs(common, process, follow, lines, {"stdout": stdout, "stderr": stderr})
    elif follow or stdout or stderr or lines is not None:
        raise click.UsageError("name a process: 'pie logs' alone lists the recorded ones")
    else:
        verbs.list_logs(common)


@click.command
@click.argument("process", metavar="ID", shell_complete=complete_process)
@click.option("--files", type=click.Path(path_type=Path, file_okay=False), metavar="DIR", help="Save files it sends.")
@common_options
@click.pass_obj
def attach(common: Common, process: str, files: Path | None) -> int:
    """Follow a process, beginning with the output you missed. Lines you type are messages for it.

    Ctrl-C ends the process, Ctrl-D leaves it running.
    """
    from pie_mlx.cli.processes import follow

    return follow.attach(common, process, files)


@click.command
@click.argument("process", metavar="ID", shell_complete=complete_process)
@click.argument("text")
@common_options
@click.pass_obj
def signal(common: Common, process: str, text: str) -> None:
    """Send a process a message."""
    from pie_mlx.cli.processes import verbs

    verbs.signal(common, process, text)


@click.command
@click.argument("processes", metavar="ID...", nargs=-1, shell_complete=complete_process)
@click.option("--all", "all_", is_flag=True, help="All processes you may end.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@common_options
@click.pass_obj
def kill(common: Common, processes: tuple[str, ...], all_: bool, yes: bool) -> None:
    """End processes and their children."""
    from pie_mlx.cli.processes import verbs

    verbs.kill(common, processes, all_, yes)
