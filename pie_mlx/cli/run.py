"""`pie run`"""

import dataclasses
import sys
from pathlib import Path
from typing import Any

import click

from pie_mlx.cli.options import Common, common_options
from pie_mlx.runtime.program import looks_like_path

WORDS = "pie_mlx.cli.run.words"


class RunCommand(click.Command):
    """Keeps the words after `--` for the program."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if "--" in args:
            place = args.index("--")
            args, ctx.meta[WORDS] = args[:place], args[place + 1 :]
        return super().parse_args(ctx, args)


@dataclasses.dataclass(frozen=True, slots=True)
class RunRequest:
    """One use of `pie run`."""

    path: Path
    manifest: Path | None
    model: str | None
    dummy: bool
    input: str | None
    words: tuple[str, ...]
    timeout_seconds: float | None
    token_budget: int | None
    files: Path | None


@click.command(cls=RunCommand, options_metavar="[OPTIONS]", epilog="Words after -- are the program's input.")
@click.argument("program", required=False, metavar="PATH")
@click.option("-p", "--path", metavar="PATH", help="The program: a .py file, or a directory with main.py.")
@click.option("-m", "--manifest", type=click.Path(path_type=Path), metavar="PATH", help="Use this Pie.toml.")
@click.option("--model", metavar="NAME|REPO|DIR", help="Run on this model.")
@click.option("--dummy", is_flag=True, help="Random tokens, no weights.")
@click.option("--input", "input", metavar="JSON|@FILE|-", help="The input as JSON.")
@click.option("--timeout", type=click.FloatRange(min=0, min_open=True), metavar="SECONDS", help="End it after that.")
@click.option("--token-budget", type=click.IntRange(min=1), metavar="N", help="Tokens it may run.")
@click.option("--files", type=click.Path(path_type=Path, file_okay=False), metavar="DIR", help="Save files it sends.")
@common_options
@click.pass_context
def command(ctx: click.Context, **given: Any) -> int:
    """Run a program on an engine of its own, print what it sends as it comes, and last what it returns.

    \b
    pie run examples/hello -- --name Ada
    """
    common = ctx.ensure_object(Common)
    request = _request(given, ctx.meta.get(WORDS))
    from pie_mlx.cli.running import run_request

    return run_request(request, common)


def _request(given: dict[str, Any], words: list[str] | None) -> RunRequest:
    if words and given["input"] is not None:
        raise click.UsageError("--input and words after -- exclude each other")
    return RunRequest(
        path=_path(given["program"], given["path"]),
        manifest=given["manifest"],
        model=given["model"],
        dummy=given["dummy"],
        input=_input_text(given["input"]),
        words=tuple(words or ()),
        timeout_seconds=given["timeout"],
        token_budget=given["token_budget"],
        files=given["files"],
    )


def _path(program: str | None, path: str | None) -> Path:
    if program and path:
        raise click.UsageError("a program is named twice: give PATH or --path")
    word = path or program
    if not word:
        raise click.UsageError("no program is named: give the path of a .py file or of a directory with main.py")
    if not path and not looks_like_path(word):
        raise click.UsageError(f"'{word}' is no path, and no programs are installed: name a .py file or a directory")
    return Path(word)


def _input_text(given: str | None) -> str | None:
    if given == "-":
        return sys.stdin.read()
    if given and given.startswith("@"):
        try:
            return Path(given[1:]).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise click.UsageError(f"--input {given}: {error}") from None
    return given
