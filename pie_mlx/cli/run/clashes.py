"""Options of `pie run` that cannot be given together."""

from collections.abc import Mapping
from typing import Any

import click

from pie_mlx.cli.options import Common

_CLASHES = {
    ("inline", "json"): "a program in this process writes to the terminal itself",
    ("inline", "debug_port"): "each is a debugger of its own",
    ("inline", "watch"): "its process runs it once",
    ("inline", "port"): "other clients' programs would run in this process",
    ("inline", "timeout"): "a program that is being looked at takes its time",
    ("debug_port", "timeout"): "a program that is being looked at takes its time",
    ("debug_port", "watch"): "a debugger attaches to one run",
    ("debug_port", "port"): "others could debug it",
    ("watch", "port"): "its engine would end with each run",
    ("record", "port"): "it records one run without other clients",
    ("record", "watch"): "it records one run",
    ("record", "detach"): "it records a run on an engine of its own",
    ("trace", "watch"): "it writes one run to its end",
    ("trace", "detach"): "nothing here waits for its end",
    ("detach", "watch"): "nothing here watches a program that was left running",
    ("detach", "inline"): "its process is this one",
    ("detach", "debug_port"): "it runs on an engine that others may share",
    ("detach", "timeout"): "nothing here waits for it: 'pie kill' ends it",
    ("detach", "files"): "nothing here receives its files: 'pie attach --files' does",
    ("detach", "mcp"): "its servers would end with this command: 'pie mcp add' adds them for an engine",
}
"""Two options, and why not both."""


def refuse_clashes(given: Mapping[str, Any], common: Common) -> None:
    """Raises click.UsageError."""
    chosen = {name for name, value in given.items() if value is not None and value is not False}
    chosen |= {"json"} if common.json else set()
    for (one, other), why in _CLASHES.items():
        if {one, other} <= chosen:
            raise click.UsageError(f"{_option(one)} and {_option(other)} exclude each other: {why}")


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"
