"""Event subscriptions of monitors."""

from itertools import chain
from typing import cast

import msgspec

from pie_mlx.engine import inspection
from pie_mlx.engine.inspection import MarketBooks
from pie_mlx.errors import InvalidArgumentError, ProcessError
from pie_mlx.events import PageUsage
from pie_mlx.figures import NOTHING
from pie_mlx.server.frames import VALUE_LIMIT_BYTES, UnwatchEvents, WatchEvents, WatchTokens
from pie_mlx.server.handlers.base import handles
from pie_mlx.server.handlers.processes import rows
from pie_mlx.server.session.connection import Connection
from pie_mlx.server.watching.feed import Watcher
from pie_mlx.server.watching.process_history import HistoryRow


@handles(WatchEvents)
async def watch(connection: Connection, request: WatchEvents) -> None:
    """Send a snapshot, then events with higher numbers; with `since`, kept events after that number."""
    if request.since is not None and request.since < 0:
        raise InvalidArgumentError(f"since {request.since}: must be 0 or more", hint="leave it out to start now")
    state, sequence = await _state(connection)
    connection.reply(request, snapshot_json(sequence, state).decode())
    begin = sequence if request.since is None else min(request.since, sequence)
    kinds = None if request.kinds is None else frozenset(request.kinds)
    connection.watch(Watcher(connection.service.feed, connection.user, begin, kinds, connection.tokens))


@handles(UnwatchEvents)
async def unwatch(connection: Connection, request: UnwatchEvents) -> str:
    del request
    connection.watch(None)
    return "Events are no longer sent"


@handles(WatchTokens)
async def watch_tokens(connection: Connection, request: WatchTokens) -> str:
    """Of one process at a time, among the events. Who may see its output may see them, unless its program refuses."""
    if not request.process_id:
        await connection.watch_tokens("")
        return "Tokens are no longer sent"
    record = connection.service.registry.find(request.process_id, connection.user)
    if not record.shows_tokens:
        raise ProcessError(
            f"process {record.id}: its program does not show its tokens",
            hint="its manifest says so, or it answers a request whose client alone gets the answer",
        )
    await connection.watch_tokens(record.id)
    return "Tokens are sent among the events"


def snapshot_json(sequence: int, state: dict[str, object]) -> bytes:
    """Encode as JSON; if it does not fit, drop the process tallies that ended, or were launched, first."""
    data = msgspec.json.encode({"sequence": sequence, "state": state})
    while len(data) > VALUE_LIMIT_BYTES and (ran := cast("list[HistoryRow]", state["ran"])):
        state["ran"] = ran[len(ran) // 2 + 1 :]
        data = msgspec.json.encode({"sequence": sequence, "state": state})
    return data


async def _state(connection: Connection) -> tuple[dict[str, object], int]:
    """The engine's state, and the number of the latest event that it may include.

    Totals are exact at that number. The number is read before the rest: a repeated event does less harm than a missing
    one.
    """
    service = connection.service
    recent = service.figures.recent() if connection.user.admin else NOTHING  # events of others are not for all eyes
    sequence, totals, ran = service.feed.sequence, service.totals.snapshot(), service.history.rows(connection.user)
    processes = await rows(connection)
    visible = {process.id for process in processes}
    contexts = [
        item
        for item in chain.from_iterable(await service.engine.consult_all(inspection.context_statuses))
        if item.process in visible
    ]
    pools = [
        _seen(book, connection, visible, {item.account for item in contexts if item.model == book.model})
        for book in await service.engine.consult_all(inspection.market_books)
    ]
    first = next((pool for pool in pools if pool.model == service.model), None)
    state: dict[str, object] = {
        "model": service.model,
        "started_at": service.started_at,
        "totals": totals,
        "processes": processes,
        "ran": ran,
        "recent": recent,
        "contexts": contexts,
        "accounts": first.accounts if first else [],
        "mcp": service.engine.mcp_servers(),
        "page_size": first.page_size if first else 0,
        "market": inspection.joined_markets(await service.engine.consult_all(inspection.market_status)),
        "pages": first.pages if first else PageUsage(0, 0, 0, 0),
        "models": [
            {field: getattr(status, field) for field in ("name", "state", "progress", "size_bytes", "draft_model")}
            for status in service.engine.models.status()
        ],
        "pools": [
            {
                **msgspec.structs.asdict(pool),
                "spilled_pages": service.totals.spilled("" if pool is first else pool.model),
            }
            for pool in pools
        ],
        "status": service.totals.model_status(service.model),
    }
    return state, sequence


def _seen(book: MarketBooks, connection: Connection, processes: set[str], accounts: set[int]) -> MarketBooks:
    """What a user may see of a pool."""
    if connection.user.admin:
        return book
    return msgspec.structs.replace(
        book,
        accounts=[account for account in book.accounts if account.account in accounts],
        processes=[pages for pages in book.processes if pages.process in processes],
    )
