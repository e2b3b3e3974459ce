"""What `pie ps`, `logs`, `signal` and `kill` do."""

import asyncio
import json
import sys
import time
from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

import click

from pie_mlx.cli.engine.connection import full_id, with_client
from pie_mlx.cli.options import Common
from pie_mlx.cli.processes.log_source import LogSource, logged_id, with_log_source
from pie_mlx.cli.run.display import TextDisplay
from pie_mlx.cli.run.failures import reason
from pie_mlx.cli.terminal.confirm import confirm
from pie_mlx.cli.terminal.text import table, without_controls
from pie_mlx.cli.terminal.vocabulary import log_line, log_row, process_row
from pie_mlx.client import Client
from pie_mlx.errors import ProcessError
from pie_mlx.events import (
    ProcessEvent,
    ProcessFailed,
    ProcessFile,
    ProcessMessage,
    ProcessOutput,
    ProcessReturned,
)
from pie_mlx.plural import plural

POLL_SECONDS = 0.2
ENDING_POLL_SECONDS = 0.02
SHORT_ID = 8
ENDED = ("returned", "failed", "killed")


def ps(common: Common, all_: bool, user: str | None) -> None:
    async def work(client: Client) -> list[dict[str, Any]]:
        rows = await client.processes(all=all_)
        return [row for row in rows if user in (None, row["username"])]

    rows = with_client(common, work)
    if common.json:
        print(json.dumps([process_row(row) for row in rows], ensure_ascii=False))
    elif common.quiet:
        for row in rows:
            print(row["id"])
    else:
        headings = (
            "ID",
            "USER",
            "PROGRAM",
            "STATE",
            "TIME",
            "PAGES",
            "OWN",
            "BALANCE",
            "CACHED",
            "REASON",
            "NOT CACHED",
        )
        print(table(headings, [_cells(row) for row in rows]))


def list_logs(common: Common) -> None:
    """List the newest logs."""
    found = with_log_source(common, lambda logs: logs.query("process_logs"))["logs"]
    if common.json:
        print(json.dumps([log_row(log) for log in found]))
    elif common.quiet:
        for log in found:
            print(log["process"])
    else:
        rows = [[log["process"][:SHORT_ID], log["username"], log["program"], _started(log)] for log in found]
        print(table(("ID", "USER", "PROGRAM", "STARTED"), rows))


def logs(common: Common, process: str, follow: bool, lines: int | None, wanted: Mapping[str, bool]) -> None:
    chosen = {name for name, is_wanted in wanted.items() if is_wanted}

    async def work(logs: LogSource) -> None:
        process_id = await logged_id(logs, process)
        show = _LogDisplay(process_id, common)
        tail: deque[dict[str, Any]] = deque(maxlen=lines)
        caught_up = lines is None
        async for line in _lines(logs, process_id, follow):
            if line is None:
                for kept in tail:
                    show(kept)
                tail.clear()
                caught_up = True
            elif chosen and line["event"] not in chosen:
                continue
            elif caught_up:
                show(line)
            else:
                tail.append(line)

    with_log_source(common, work)


def signal(common: Common, process: str, text: str) -> None:
    async def work(client: Client) -> None:
        process_id = await full_id(client, process)
        # Raises where there is none, or it belongs to another user.
        if (await client.query("process_result", process_id=process_id))["state"] in ENDED:
            raise ProcessError("Process not found", hint="it has ended already")
        await client.signal(process_id, text)
        await client.ping()  # answered after the signal was handled

    with_client(common, work)


def kill(common: Common, processes: tuple[str, ...], all_: bool, yes: bool) -> None:
    if all_ == bool(processes):
        raise click.UsageError("name processes, or give --all")

    async def work(client: Client) -> None:
        if all_:
            ids = [row["id"] for row in await client.processes() if row["parent"] is None]
            if ids:
                confirm(f"End {plural(len(ids), 'process', 'processes')}?", refusal="no process was ended", yes=yes)
        else:
            ids = [await full_id(client, word) for word in processes]
        for process_id in ids:
            await client.terminate(process_id)
            if not common.quiet:
                print(process_id)
        await _wait_until_ended(client, ids)

    with_client(common, work)


async def _wait_until_ended(client: Client, ids: Sequence[str]) -> None:
    """The engine abandons processes that take longer than two seconds to end."""
    left = set(ids)
    while left:
        left &= {row["id"] for row in await client.processes()}
        await asyncio.sleep(ENDING_POLL_SECONDS if left else 0)


async def _lines(logs: LogSource, process_id: str, follow: bool) -> AsyncIterator[dict[str, Any] | None]:
    """Lines of the log, then None once caught up. With `follow`, more lines until the process ends."""
    after, caught_up = 0, False
    while True:
        page = await logs.query("process_output", process_id=process_id, after=after)
        for line in page["events"]:
            after = line["sequence"]
            yield line
        if page["events"]:
            continue
        if not caught_up:
            caught_up = True
            yield None
        if not (follow and page["running"]):
            return
        await asyncio.sleep(POLL_SECONDS)


class _LogDisplay:
    """Lines of a log as `pie run` shows events, without control characters."""

    def __init__(self, process_id: str, common: Common) -> None:
        self._process_id = process_id
        self._is_json = common.json
        self._display = TextDisplay(quiet=common.quiet)

    def __call__(self, line: dict[str, Any]) -> None:
        if self._is_json:
            print(json.dumps({"process": self._process_id, **log_line(line)}, ensure_ascii=False), flush=True)
            return
        event = _event(self._process_id, line)
        self._display(event)
        if line["event"] == "file":
            print(f"pie: file {line['value']!r} ({plural(line.get('size_bytes', 0), 'byte')})", file=sys.stderr)
        elif isinstance(event, ProcessFailed):
            print(f"pie: {reason(event)}", file=sys.stderr)


def _event(process: str, line: dict[str, Any]) -> ProcessEvent:
    text, format = without_controls(line["value"]), line.get("format", "text")
    match line["event"]:
        case "stdout" | "stderr" as stream:
            return ProcessOutput(process, stream, text)
        case "message":
            return ProcessMessage(process, text, format)
        case "return":
            return ProcessReturned(process, text, format)
        case "file":
            return ProcessFile(process, text, line.get("size_bytes", 0))
        case _:
            return ProcessFailed(process, line.get("error_type", "error"), text)


def _started(log: dict[str, Any]) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(log["started_at"]))


def _cells(row: dict[str, Any]) -> list[str]:
    seconds = row["elapsed_secs"]
    return [
        row["id"][:SHORT_ID],
        row["username"],
        row["program"],
        row["state"],
        f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}",
        str(row["pages"]),
        str(row["own_pages"]),
        f"{row['balance']:.1f}",
        f"{row['cached_tokens']}/{row['prompt_tokens']}" if row["prompt_tokens"] else "",
        without_controls(row["reason"].partition("\n")[0]),
        without_controls(row["miss"]),
    ]
