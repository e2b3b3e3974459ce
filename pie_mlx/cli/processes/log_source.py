"""Logs of processes: from a running engine, or from disk where none runs."""

import asyncio
import os
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, Protocol, TypeVar

from pie_mlx.cli.engine.connection import engine_address, is_full_id, single_match, with_client
from pie_mlx.cli.options import Common
from pie_mlx.config import pie_home
from pie_mlx.errors import InvalidArgumentError, SessionClosedError

LISTED = 100
SHOWN = 8
"""Characters of an id that tell it from others."""

Result = TypeVar("Result")


class LogSource(Protocol):
    """Answers the queries `process_logs`, `process_output` and `processes`."""

    async def query(self, subject: str, **record: Any) -> dict[str, Any]: ...


def with_log_source(common: Common, work: Callable[[LogSource], Coroutine[Any, Any, Result]]) -> Result:
    """Do the work with the running engine, else with the directory of logs.

    Raises KeyboardInterrupt, and SessionClosedError where there is neither.
    """
    directory = pie_home(os.environ) / "logs"
    try:
        engine_address(common)
    except SessionClosedError as error:
        if not directory.is_dir():
            hint = "programs on 'pie serve' are recorded; others leave no log"
            raise SessionClosedError(f"{error.message}, and nothing is recorded", hint=hint) from None
        return asyncio.run(work(_LogDirectory(directory)))
    return with_client(common, work)


async def logged_id(logs: LogSource, word: str) -> str:
    """The full id for a prefix, among recorded processes, else running ones. Raises what `full_id` does."""
    if is_full_id(word):
        return word.lower()
    found = [log["process"] for log in (await logs.query("process_logs", id_prefix=word))["logs"]]
    if not found:
        found = [row["id"] for row in (await logs.query("processes", id_prefix=word))["processes"]]
    if not found:
        await _refuse_program(logs, word)
    return single_match(word, found, verb="pie logs")


async def _refuse_program(logs: LogSource, word: str) -> None:
    """Raise InvalidArgumentError with the newest process of the program that the word names, if it names one."""
    for log in (await logs.query("process_logs"))["logs"]:
        if word in (log["program"], log["program"].partition("@")[0]):
            raise InvalidArgumentError(
                f"'{word}' is a program, and its processes have ids of their own",
                hint=f"'pie logs {log['process'][:SHOWN]}' shows the newest, 'pie logs' lists all",
            )


class _LogDirectory:
    """The logs in `directory`. Only its own account can read it, so there is no login."""

    def __init__(self, directory: Path) -> None:
        import time

        from pie_mlx.runtime.registry import OutputLogs

        self._logs = OutputLogs(directory, time.time)

    async def query(self, subject: str, **record: Any) -> dict[str, Any]:
        import msgspec

        from pie_mlx.runtime.registry import checked_id

        if subject == "processes":
            return {"processes": []}
        if subject == "process_logs":
            return {"logs": msgspec.to_builtins(self._logs.newest(record.get("id_prefix", "").lower(), None, LISTED))}
        lines = self._logs.read(checked_id(record["process_id"]), after=record["after"])
        return {"running": False, "events": msgspec.to_builtins(lines)}
