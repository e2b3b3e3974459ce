"""What a shell offers for names: programs, processes, models. Paths are left to the shell itself."""

import asyncio
import contextlib
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import click
from click.shell_completion import CompletionItem

Complete = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]
_FILES = "file"
_PATHS = (".", "/", "~")
_LISTED = 100


def _completing(find: Callable[[], Mapping[str, str]], *, also_paths: bool = False) -> Complete:
    """Offers the names that `find` returns, each with a line of help, or what is not a name as a path."""

    def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        del ctx, param
        files = [CompletionItem(incomplete, type=_FILES)] if also_paths else []
        if also_paths and (incomplete.startswith(_PATHS) or os.sep in incomplete):
            return files
        names: Mapping[str, str] = {}
        with contextlib.suppress(Exception):  # a shell could not show it
            names = find()
        fitting = sorted(name for name in names if name.startswith(incomplete))
        return [CompletionItem(name, help=names[name]) for name in fitting] or files

    return complete


def _programs() -> dict[str, str]:
    from pie_mlx.config import pie_home
    from pie_mlx.runtime.daemon.builtin_programs import NAMES
    from pie_mlx.runtime.store import ProgramStore

    installed = {record.name: "installed" for record in ProgramStore(pie_home(os.environ)).listing()}
    return dict.fromkeys(NAMES, "comes with pie-mlx") | installed


def _programs_and_paths() -> dict[str, str]:
    return _programs() | dict.fromkeys(_programs_here(), "here")


def _programs_here() -> Iterator[str]:
    from pie_mlx.runtime.program.program import looks_like_path

    for path in Path().iterdir():
        if looks_like_path(path.name):
            yield f"{path}{os.sep}" if path.is_dir() else str(path)


def _processes() -> dict[str, str]:
    from pie_mlx.cli.engine.connection import open_client
    from pie_mlx.client import find_engine
    from pie_mlx.config import pie_home

    async def rows() -> dict[str, str]:
        address = find_engine(None, os.environ, pie_home(os.environ))
        if address is None:
            return {}
        async with await open_client(address) as client:
            return {row["id"]: f"{row['program']} {row['state']}" for row in await client.processes()}

    return asyncio.run(rows())


def _logged() -> dict[str, str]:
    import time

    from pie_mlx.config import pie_home
    from pie_mlx.runtime.registry import OutputLogs

    logs = OutputLogs(pie_home(os.environ) / "logs", time.time).newest("", None, _LISTED)
    return {log.process: log.program for log in logs}


def _models() -> dict[str, str]:
    from pie_mlx.config import load_config
    from pie_mlx.runtime.models import models_on_disk

    configured = {model.name: "configured" for model in load_config().config.model}
    return configured | {model.name: model.source for model in models_on_disk() if not model.suitability.problem}


complete_program = _completing(_programs)
complete_program_or_path = _completing(_programs_and_paths, also_paths=True)
complete_process = _completing(_processes)
complete_logged = _completing(_logged)
complete_model = _completing(_models)
complete_model_or_path = _completing(_models, also_paths=True)
