"""`pie cache`"""

import json
import math
import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from pie_mlx.cli.engine.completions import complete_model
from pie_mlx.cli.options import Common, common_options
from pie_mlx.cli.terminal.confirm import confirm
from pie_mlx.cli.terminal.text import size, table, without_controls
from pie_mlx.cli.terminal.vocabulary import iso_time

if TYPE_CHECKING:
    from pie_mlx.engine.paging.disk.directory import CacheDirectory

_HEADINGS = ("MODEL", "USER", "PAGES", "SIZE", "OLDEST", "USED")


@dataclass(slots=True)
class _Kept:
    """What is kept of a user and a model, in one of its versions: what was not used for longest goes first."""

    pages: int = 0
    size_bytes: int = 0
    used_seconds: float = 0.0
    oldest_seconds: float = math.inf


@click.group(invoke_without_command=True)
@common_options
@click.pass_context
def command(ctx: click.Context) -> None:
    """Show or clear the KV that is kept on disk, by model and user, and how long ago it was used.

    With [model.engine] kv_disk = "on", prompts that were computed once are read from there after a restart.
    """
    if ctx.invoked_subcommand is None:
        _show(ctx.obj)


@command.command
@click.option("--model", metavar="NAME", shell_complete=complete_model, help="Only what is kept of this model.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@common_options
@click.pass_obj
def clear(common: Common, model: str | None, yes: bool) -> None:
    """Remove the KV on disk. An engine that uses it computes instead."""
    of_model = "" if model is None else f" of {model}"
    confirm(f"Remove the KV on disk{of_model}?", refusal="nothing was removed", yes=yes)
    freed_bytes = _directory().clear(model)
    print(json.dumps({"freed_bytes": freed_bytes}) if common.json else f"removed {size(freed_bytes)}{of_model}")


def _show(common: Common) -> None:
    from pie_mlx.tui.model.text import age

    directory = _directory()
    kept: dict[tuple[str, str, str], _Kept] = {}
    for file, header in directory.described():
        owner = ("", "", file.path.parent.name) if header is None else (*_names(header.owner), header.owner.identity)
        one = kept.setdefault(owner, _Kept())
        one.pages += 0 if header is None else header.pages
        one.size_bytes += file.size_bytes
        one.used_seconds = max(one.used_seconds, file.used_seconds)
        one.oldest_seconds = min(one.oldest_seconds, file.used_seconds)
    listed = sorted(kept.items(), key=lambda item: -item[1].used_seconds)
    writes = directory.writes()
    rows: list[dict[str, Any]] = [
        {
            "model": model,
            "user": user,
            "identity": identity,
            "pages": one.pages,
            "size_bytes": one.size_bytes,
            "oldest_at": iso_time(one.oldest_seconds),
            "used_at": iso_time(one.used_seconds),
        }
        for (model, user, identity), one in listed
    ]
    if common.json:
        print(json.dumps({"kept": rows, "written_bytes": writes.written_bytes, "path": os.fspath(directory.root)}))
        return
    now = time.time()
    cells = [
        [
            row["model"] or "(of another version)",
            row["user"],
            f"{row['pages']:,}",
            size(row["size_bytes"]),
            age(max(0.0, now - one.oldest_seconds)),
            age(max(0.0, now - one.used_seconds)),
        ]
        for row, (_, one) in zip(rows, listed, strict=True)
    ]
    print(table(_HEADINGS, cells))
    if not common.quiet:
        print(f"{size(writes.written_bytes)} written so far, to {directory.root}")


def _names(owner: Any) -> tuple[str, str]:
    return without_controls(owner.model), without_controls(owner.user)


def _directory() -> "CacheDirectory":
    from pie_mlx.config import pie_home
    from pie_mlx.engine.paging.disk.directory import CacheDirectory
    from pie_mlx.runtime.configured import KV_DIRECTORY

    return CacheDirectory(pie_home(os.environ) / KV_DIRECTORY, max_bytes=0, day_bytes=0)
