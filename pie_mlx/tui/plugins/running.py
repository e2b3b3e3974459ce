"""Runs a command of the user's own."""

import asyncio
import contextlib
import os
import re
import signal
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from string import Formatter

from pie_mlx.errors import InvalidArgumentError
from pie_mlx.tui.model.text import one_line
from pie_mlx.tui.plugins.plugin import Plugin

TOLD_BYTES = 2000


def field_name(title: str) -> str:
    """The title of a column as the name of a field: `max tokens` is `max_tokens`."""
    return re.sub(r"\W+", "_", title.lower()).strip("_")


def words_of(plugin: Plugin, fields: Mapping[str, str]) -> list[str]:
    """The program and its arguments. Each field stays within its word. Raises InvalidArgumentError."""
    if plugin.needs_row and not fields:
        raise InvalidArgumentError(f"{plugin.name}: no row is selected", hint="select one with the arrows")
    if plugin.shell:
        return ["sh", "-c", plugin.shell]
    return [_filled(plugin, word, fields) for word in plugin.command]


def _filled(plugin: Plugin, word: str, fields: Mapping[str, str]) -> str:
    filled = ""
    for literal, name, _, _ in Formatter().parse(word):
        filled += literal
        if name is None:
            continue
        value = fields.get(name)
        if value is None:
            raise InvalidArgumentError(f"{plugin.name}: the row has no '{name}'", hint=f"it has {', '.join(fields)}")
        if not filled and value.startswith("-"):
            raise InvalidArgumentError(
                f"{plugin.name}: '{name}' begins with '-', as options do",
                hint=f"write --option={{{name}}}, or ./{{{name}}} for a file",
            )
        filled += value.replace("\0", "")
    return filled


def environment_of(fields: Mapping[str, str], url: str, base: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The fields as `ROW_ID` and so on; and the engine's address, which `pie` commands use, if it was given."""
    rows = {f"ROW_{name.upper()}": value.replace("\0", "") for name, value in fields.items()}
    return {**base, **rows, **({"PIE_URL": url} if url else {})}


async def run_in_background(words: Sequence[str], environment: Mapping[str, str]) -> str:
    """Run it to its end; it ends with the monitor. Returns what went wrong, empty if nothing did. Raises OSError."""
    with tempfile.TemporaryFile() as errors:
        process = await asyncio.create_subprocess_exec(
            *words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            env=environment,
            start_new_session=True,
        )
        try:
            code = await process.wait()
        except asyncio.CancelledError:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
            raise
        size = errors.seek(0, os.SEEK_END)
        errors.seek(max(0, size - TOLD_BYTES))
        lines = errors.read().decode(errors="replace").split("\n")
    told = next((one_line(line) for line in reversed(lines) if line.strip()), "")
    return "" if code == 0 else ": ".join(filter(None, (f"ended with {code}", told)))


def run_in_foreground(words: Sequence[str], environment: Mapping[str, str], wait: Callable[[str], object]) -> None:
    """Run it with the terminal, and then `wait` for the user, so that its output is read. Raises OSError."""
    before = signal.signal(signal.SIGINT, _ignore)
    try:
        code = subprocess.call(words, env=environment)
        with contextlib.suppress(EOFError):
            wait(f"\n[ended with {code}; enter goes back to the monitor] " if code else "\n[enter goes back] ")
    finally:
        signal.signal(signal.SIGINT, before)


def _ignore(number: int, frame: object) -> None:
    """Ctrl-C is for the command. The signal is not ignored but caught, because a command would inherit that."""
