"""What processes gave out: asked of the engine that runs, or read off the disk where none does."""

import asyncio
import os
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, Protocol, TypeVar

from pie_mlx.cli.engine.connection import engine_address, is_whole, only_id, with_client
from pie_mlx.cli.options import Common
from pie_mlx.config import pie_home
from pie_mlx.errors import SessionClosedError

LISTED = 100

Result = TypeVar("Result")


class Recorded(Protocol):
    """Answers the queries `process_logs`, `process_output` and `processes`."""

    async def query(self, subject: str, **record: Any) -> dict[str, Any]: ...


def with_recorded(common: Common, work: Callable[[Recorded], Coroutine[Any, Any, Result]]) -> Result:
    """Do the work with the engine, or with its directory of logs while none runs.

    Raises KeyboardInterrupt, and SessionClosedError where there is neither.
    """
    directory = pie_home(os.environ) / "logs"
    try:
        engine_address(common)
    except SessionClosedError as error:
        if not directory.is_dir():
            hint = "programs that run on 'pie serve' are recorded; what ran without it has left no log"
            raise SessionClosedError(f"{error.message}, and nothing is recorded", hint=hint) from None
        return asyncio.run(work(_Disk(directory)))
    return with_client(common, work)


async def recorded_id(logs: Recorded, word: str) -> str:
    """The id a prefix stands for, among those that are recorded, else those that run; errors as of `whole_id`."""
    if is_whole(word):
        return word.lower()
    found = [log["process"] for log in (await logs.query("process_logs", id_prefix=word))["logs"]]
    if not found:
        found = [row["id"] for row in (await logs.query("processes", id_prefix=word))["processes"]]
    return only_id(word, found, verb="pie logs")


class _Disk:
    """The logs in `directory`. Its account alone can read it, so no user is asked for."""

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
