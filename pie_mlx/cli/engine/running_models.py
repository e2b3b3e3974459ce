"""The models of the running engine."""

import json
from typing import Any

from pie_mlx.cli.engine.connection import with_client
from pie_mlx.cli.options import Common
from pie_mlx.cli.terminal.text import size, table
from pie_mlx.client import Client
from pie_mlx.plural import plural

_HEADINGS = ("MODEL", "STATE", "SIZE", "PAGES", "PRICE", "DRAFT MODEL", "LEAVES", "HELD BY", "WHAT IT DOES")
_MOST_HOLDERS = 3


def list_running(common: Common) -> None:
    """Print the models of the running engine."""

    async def work(client: Client) -> list[dict[str, Any]]:
        return await client.models.list()

    rows = with_client(common, work)
    if common.json:
        print(json.dumps(rows))
    elif common.quiet:
        print("\n".join(row["name"] for row in rows))
    else:
        print(table(_HEADINGS, [table_row(row) for row in rows]))


def table_row(row: dict[str, Any]) -> list[str]:
    """The columns of a model, as `client.models.list` tells of it."""
    progress = row["progress"]
    state = row["state"] if progress is None else f"{row['state']} {progress * 100:.0f} %"
    pages = f"{row['pages']['used']}/{row['pages']['total']}" if row["pages"] else ""
    price = f"{row['price']:.2f}" if row["pages"] else ""
    plain = [row["name"], state, size(row["size_bytes"]), pages, price, row.get("draft_model", "")]
    return [*plain, _leaves(row), _holders(row), row["text"]]


def _leaves(row: dict[str, Any]) -> str:
    """When it gives its memory back, or why it does not."""
    left = row["expires_in_seconds"]
    return row.get("stays", "") if left is None else f"in {left:.0f} s"


def _holders(row: dict[str, Any]) -> str:
    """The programs that hold it, as many as there is room for; those of other users are only counted."""
    shown = [holder[:8] for holder in row.get("holders", ())[:_MOST_HOLDERS]]
    others = row["processes"] - len(shown)
    return ", ".join([*shown, *([f"{others} more" if shown else plural(others, "program")] if others else [])])
