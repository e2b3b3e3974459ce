"""Read a trace from a file or an engine, and print where the time went."""

import sys
from pathlib import Path

import msgspec
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from pie_mlx.cli.engine.connection import full_id, with_client
from pie_mlx.cli.options import Common
from pie_mlx.cli.run.recording.tracing import kept_events
from pie_mlx.cli.terminal.text import without_controls
from pie_mlx.client import Client
from pie_mlx.errors import InvalidArgumentError
from pie_mlx.files import SHARED, write_file
from pie_mlx.plural import plural
from pie_mlx.trace.file import Recorded, of_tree, read_trace
from pie_mlx.trace.spans import OWN_CODE
from pie_mlx.trace.times import Part, ProcessTimes, times_of

SHORT_ID = 8
MOST_PROCESSES = 50


def show(common: Common, what: str, html: Path | None) -> None:
    """Print the report, or write the page. Raises InvalidArgumentError, PieError."""
    recorded = _recorded(common, what)
    if html is not None:
        from pie_mlx.trace.page import page_of

        write_file(html, page_of(recorded).encode(), SHARED)
        if not common.quiet:
            print(html)
        return
    times = times_of(recorded.trace())
    if not times:
        raise InvalidArgumentError(f"{what}: it has no program in it", hint="trace a run with 'pie run --trace'")
    if common.json:
        print(msgspec.json.encode({"missed": recorded.missed, "processes": times}).decode())
        return
    console = Console(highlight=False)
    for root in [one for one in times if one.parent not in {other.process for other in times}]:
        _print_process(console, root)
    if len(times) > 1:
        console.print(_processes(times))
    if recorded.missed:
        print(
            f"pie: {plural(recorded.missed, 'event is', 'events are')} missing: their time counts as other parts",
            file=sys.stderr,
        )


def _recorded(common: Common, what: str) -> Recorded:
    path = Path(what)
    if path.exists():
        return read_trace(path)
    if any(mark in what for mark in "/."):
        raise InvalidArgumentError(f"{what}: no such file", hint="name a file of 'pie run --trace', or a process")

    async def ask(client: Client) -> Recorded:
        process = await full_id(client, what)
        events, missed = await kept_events(client)
        return Recorded(of_tree(events, process), missed)

    return with_client(common, ask)


def _print_process(console: Console, times: ProcessTimes) -> None:
    prompts = f"{plural(times.prefill_tokens, 'prompt token')} computed, {times.cached_tokens} cached"
    outcome = without_controls(times.outcome) or "did not end"
    console.print(Text(f"{times.program} {times.process[:SHORT_ID]}: {_time(times.seconds)}, {outcome}"))
    console.print(Text(f"{plural(times.passes, 'pass', 'passes')}, {prompts}, {times.decode_tokens} decoded"))
    table = Table(box=SIMPLE_HEAD)
    table.add_column("where")
    for heading in ("self", "share", "total", "count"):
        table.add_column(heading, justify="right")
    for part in times.parts:
        table.add_row(*_cells(part, times.seconds))
    console.print(table)


def _cells(part: Part, seconds: float) -> tuple[Text, ...]:
    share = part.self_seconds / seconds if seconds else 0.0
    count = "" if part.part == OWN_CODE or not part.count else str(part.count)
    words = (part.part, _time(part.self_seconds), f"{share:.0%}", _time(part.total_seconds), count)
    return tuple(Text(without_controls(word)) for word in words)


def _processes(times: list[ProcessTimes]) -> Table:
    table = Table(box=SIMPLE_HEAD, title="Processes", title_justify="left", title_style="")
    for heading in ("id", "program", "parent", "time", "passes", "computed", "most of it"):
        table.add_column(heading, justify="right" if heading in ("time", "passes", "computed") else "left")
    shown = sorted(times, key=lambda one: -one.seconds)[:MOST_PROCESSES]
    for one in shown:
        most = one.parts[0].part if one.parts else ""
        tokens = one.prefill_tokens + one.decode_tokens
        words = (one.process[:SHORT_ID], one.program, one.parent[:SHORT_ID], _time(one.seconds))
        table.add_row(*(Text(word) for word in (*words, str(one.passes), str(tokens), most)))
    if len(times) > len(shown):
        table.caption = f"and {len(times) - len(shown)} shorter ones: --json has all"
    return table


def _time(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1000:.1f} ms"
