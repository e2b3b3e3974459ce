"""`pie run --watch`: run a program again after each change of its files, on an engine that stays."""

import asyncio
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, Never

import click

from pie_mlx.cli.engine.model_settings import requested_settings
from pie_mlx.cli.options import Common
from pie_mlx.cli.run.local import Observers, own_engine, prepared_local_run
from pie_mlx.cli.run.remote import prepared
from pie_mlx.cli.run.request import RunRequest
from pie_mlx.cli.run.watching.changes import Snapshot, changed_names, next_change, snapshot
from pie_mlx.cli.terminal.errors import report_failure
from pie_mlx.cli.terminal.interrupts import Protect
from pie_mlx.cli.terminal.progress import progress_line
from pie_mlx.client import Address
from pie_mlx.config.schema import Config
from pie_mlx.errors import PieError

RunOnce = Callable[[], Coroutine[Any, Any, int]]
Run = Callable[[Protect], Coroutine[Any, Any, Never]]


def watched_on(address: Address, request: RunRequest, common: Common) -> Run:
    """On a running engine."""

    async def run(protect: Protect) -> Never:
        protect()
        await _run_again(request, common, lambda: prepared(request, common)(address).run(_already))

    return run


def watched_here(request: RunRequest, common: Common, config: Config, observers: Observers) -> Run:
    """On an engine of its own, which starts once. Raises ConfigError."""
    settings = requested_settings(request.model, dummy=request.dummy, common=common)

    async def run(protect: Protect) -> Never:
        with progress_line(common) as (progress, loaded):
            async with own_engine(settings, config, observers, progress) as engine:
                protect()
                loaded()
                await _run_again(
                    request, common, lambda: prepared_local_run(request, common, config, observers).run_on(engine)
                )

    return run


async def _run_again(request: RunRequest, common: Common, run_once: RunOnce) -> Never:
    """Run it now and after each change; a change ends a run that goes on. Until cancelled."""
    paths = [path for path in (request.path, request.manifest, request.mcp) if path is not None]

    def look() -> Snapshot:
        return snapshot(paths)

    known = look()
    while True:
        running = asyncio.create_task(_reported(run_once, common))
        change = asyncio.create_task(next_change(known, look))
        try:
            await asyncio.wait({running, change}, return_when=asyncio.FIRST_COMPLETED)
            if not change.done():
                tell(common, f"it runs again when {_shown(request.path)} changes; Ctrl-C ends this")
            before, known = known, await change
        finally:
            running.cancel()
            change.cancel()
            await asyncio.gather(running, change, return_exceptions=True)
        tell(common, f"{', '.join(changed_names(before, known))} changed")


async def _reported(run_once: RunOnce, common: Common) -> None:
    """A program that cannot be run now may be after the next change."""
    try:
        await run_once()
    except (PieError, click.ClickException, OSError) as error:
        report_failure(error, common)


def tell(common: Common, line: str) -> None:
    if not common.quiet:
        print(f"pie: {line}", file=sys.stderr, flush=True)


def _shown(path: Path) -> str:
    return "a file here" if path == Path() else str(path)


def _already() -> None:
    """The command is protected from its beginning."""
