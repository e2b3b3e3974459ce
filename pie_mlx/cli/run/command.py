"""`pie run`"""

import os
import re
from pathlib import Path
from typing import Any

import click

from pie_mlx.cli.engine.completions import complete_model_or_path, complete_program_or_path
from pie_mlx.cli.options import Common, Number, Whole, common_options
from pie_mlx.cli.run.clashes import refuse_clashes
from pie_mlx.cli.run.request import RunRequest
from pie_mlx.cli.terminal.standard_input import piped_text

WORDS = "pie_mlx.cli.run.words"
_ALLOW_NETWORK = "--allow-network"
_URL = re.compile(r"[a-z]+://")
_REPO = re.compile(r"[\w-][\w.-]*/[\w.-]+")


class RunCommand(click.Command):
    """Keeps the words after `--` for the program."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if "--" in args:
            place = args.index("--")
            args, ctx.meta[WORDS] = args[:place], args[place + 1 :]
        # Its value is optional: without an equals sign it could be the program.
        args = [f"{_ALLOW_NETWORK}=" if word == _ALLOW_NETWORK else word for word in args]
        try:
            return super().parse_args(ctx, args)
        except (click.BadParameter, click.BadOptionUsage):
            raise
        except click.UsageError as error:
            if WORDS in ctx.meta:
                raise
            said = error.format_message()
            raise click.UsageError(f"{said}\n     arguments of the program go after --", ctx) from None


@click.command(cls=RunCommand, options_metavar="[OPTIONS]", epilog="Words after -- are the program's input.")
@click.argument("program", required=False, metavar="PATH|NAME[@VERSION]", shell_complete=complete_program_or_path)
@click.option("-p", "--path", type=click.Path(), metavar="PATH", help="The program: a .py file, a directory or a .pie.")
@click.option("-m", "--manifest", type=click.Path(path_type=Path), metavar="PATH", help="Use this Pie.toml.")
@click.option("--model", metavar="NAME|REPO|DIR", shell_complete=complete_model_or_path, help="Run on this model.")
@click.option("--dummy", is_flag=True, help="Random tokens, no weights.")
@click.option("--one-shot", is_flag=True, help="Start an engine for it even when one is running.")
@click.option("--stdout", "unused", is_flag=True, hidden=True)
@click.option("--input", "input", metavar="JSON|@FILE|-", help="The input as JSON.")
@click.option("--timeout", type=Number(min=0, min_open=True), metavar="SECONDS", help="End it after that time.")
@click.option("--token-budget", type=Whole(min=1), metavar="N", help="The most tokens it may compute.")
@click.option("--allow-fs", "allow_files", is_flag=True, help="Let it keep files in /scratch.")
@click.option(
    _ALLOW_NETWORK, "network", metavar="[=HOSTS]", help="Let it reach HOSTS (comma-separated), or the configured ones."
)
@click.option("--port", type=Whole(0, 65535), metavar="N", help="Let other clients reach its engine; 0: any free port.")
@click.option("--log", type=click.Path(path_type=Path, dir_okay=False), metavar="PATH", help="Record all events.")
@click.option(
    "--record", type=click.Path(path_type=Path, dir_okay=False), metavar="PATH", help="Record it for 'pie replay'."
)
@click.option("--trace", type=click.Path(path_type=Path, dir_okay=False), metavar="PATH", help="Write where time went.")
@click.option("--files", type=click.Path(path_type=Path, file_okay=False), metavar="DIR", help="Save files it sends.")
@click.option("--mcp", type=click.Path(path_type=Path), metavar="FILE", help="Let it use the servers of an .mcp.json.")
@click.option("-d", "--detach", is_flag=True, help="Start it on the running engine, and print the id of its process.")
@click.option("--watch", is_flag=True, help="Run it again whenever its files change.")
@click.option("--inline", is_flag=True, help="Run it in this process: breakpoint() stops it in this terminal.")
@click.option("--debug-port", type=Whole(0, 65535), metavar="N", help="Wait for a debugger, such as VS Code's, there.")
@common_options
@click.pass_context
def command(ctx: click.Context, **given: Any) -> int:
    """Run a program, print what it sends as it arrives, and finally what it returns.

    It uses the engine that 'pie serve' has started; of an engine with several models, --model is the program's default
    one. It starts an engine of its own where none runs, where that one does not serve --model, and with the options
    that change the engine (--dummy, --one-shot, --allow-fs, --allow-network, --port, --log, --record, --inline,
    --debug-port, --config). Beside a running engine of the same model that takes its memory twice; 'pie stop' ends that
    engine first. It waits for an engine that is starting.

    PATH is a .py, .ts or .js file, a directory with a main file, or a .pie package; NAME is an installed program.

    Lines you type are messages for it, until Ctrl-D. Piped input is not sent, so a script's loop keeps its lines.

    \b
    pie run examples/hello -- --prompt "Who are you?"
    """
    common = ctx.ensure_object(Common)
    refuse_clashes(given, common)
    request = _request(given, ctx.meta.get(WORDS))
    from pie_mlx.cli.run import dispatch

    return dispatch.start_request(request, common) if given["detach"] else dispatch.run_request(request, common)


def _request(given: dict[str, Any], words: list[str] | None) -> RunRequest:
    if words and given["input"] is not None:
        raise click.UsageError("--input and words after -- exclude each other")
    path = _path(given["program"], given["path"])
    installed = None if given["path"] or _is_path(str(given["program"])) else str(path)
    if installed and given["manifest"]:
        raise click.UsageError("--manifest goes with a path: an installed program has its own")
    return RunRequest(
        path=path,
        installed=installed,
        manifest=given["manifest"],
        model=given["model"],
        dummy=given["dummy"],
        input=_input_text(given["input"]),
        words=tuple(words or ()),
        timeout_seconds=given["timeout"],
        token_budget=given["token_budget"],
        one_shot=given["one_shot"],
        files=given["files"],
        network_hosts=_hosts(given["network"]),
        allow_files=given["allow_files"],
        port=given["port"],
        log=given["log"],
        inline=given["inline"],
        debug_port=given["debug_port"],
        watch=given["watch"],
        mcp=given["mcp"],
        record=given["record"],
        trace=given["trace"],
    )


def _is_path(word: str) -> bool:
    """Whether the word is a path, not the name of an installed program. A name that is both means the program."""
    from pie_mlx.runtime.program.program import looks_like_path

    if looks_like_path(word) or not Path(word).exists():
        _refuse_model(word)
        return looks_like_path(word)
    from pie_mlx.config import pie_home
    from pie_mlx.errors import PieError
    from pie_mlx.runtime.store import ProgramStore

    try:
        ProgramStore(pie_home(os.environ)).find(word)
    except PieError:
        return True
    return False


def _refuse_model(word: str) -> None:
    """Raise LaunchError for the name of a model's repo, which looks like a path."""
    from pie_mlx.runtime.program.language import SUFFIXES

    if not _REPO.fullmatch(word) or word.endswith((*SUFFIXES, ".pie")) or Path(word).exists():
        return
    from pie_mlx.cli.programs.installed import is_model, model_as_program

    if is_model(word):
        raise model_as_program(word)


def _hosts(given: str | None) -> tuple[str, ...] | None:
    return None if given is None else tuple(host.strip() for host in given.split(",") if host.strip())


def _path(program: str | None, path: str | None) -> Path:
    if program and path:
        raise click.UsageError("a program is named twice: give PATH or --path")
    word = path or program
    if not word:
        raise click.UsageError("no program is named: give the path of a .py file or of a directory, or a NAME")
    if _URL.match(word):
        raise click.UsageError(f"{word}: a URL cannot be run: download it first, read it, and run the file")
    return Path(word)


def _input_text(given: str | None) -> str | None:
    if given == "-":
        return piped_text()
    if given and given.startswith("@"):
        try:
            return Path(given[1:]).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise click.UsageError(f"--input {given}: {error}") from None
    return given
