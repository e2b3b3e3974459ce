"""The models of the running engine."""

import json
from typing import Any

from pie_mlx.cli.engine.connection import with_client
from pie_mlx.cli.options import Common
from pie_mlx.cli.terminal.text import size, table
from pie_mlx.client import Client

_HEADINGS = ("MODEL", "STATE", "SIZE", "PAGES", "PRICE", "PROGRAMS", "LEAVES", "WHAT IT DOES")


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
        print(table(_HEADINGS, [_cells(row) for row in rows]))


def _cells(row: dict[str, Any]) -> list[str]:
    left = row["expires_in_seconds"]
    leaves = "" if row["state"] != "loaded" else "-" if left is None else f"in {left:.0f} s"
    progress = row["progress"]
    state = row["state"] if progress is None else f"{row['state']} {progress * 100:.0f} %"
    pages = f"{row['pages']['used']}/{row['pages']['total']}" if row["pages"] else ""
    price = f"{row['price']:.2f}" if row["pages"] else ""
    return [row["name"], state, size(row["size_bytes"]), pages, price, str(row["processes"]), leaves, row["text"]]
