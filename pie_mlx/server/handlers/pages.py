"""Queries about the pool page by page. Users see the contexts of their own processes, administrators all."""

import asyncio
from functools import partial
from itertools import pairwise

import msgspec

from pie_mlx.engine import page_books
from pie_mlx.engine.services import Services
from pie_mlx.errors import InvalidArgumentError
from pie_mlx.runtime.registry import ProcessRecord
from pie_mlx.server.handlers.queries import answers
from pie_mlx.server.session.connection import Connection

MOST_RUNS = 30_000
"""Runs of pages in an answer, which must fit a frame; the pages of later groups are left out, not their numbers."""
TEXT_CHARACTERS = 4_000


class PoolOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Without a `model`, the default one is meant."""

    model: str = ""


class PageOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    page: int
    model: str = ""


@answers("pool", PoolOptions)
async def pool(connection: Connection, options: PoolOptions) -> dict[str, object]:
    """Every page in groups: its kind, and the contexts that hold it. `pages` are runs of a first page and a number."""
    consult = partial(connection.service.engine.consult, model=options.model)
    seen = await _seen(connection)
    groups: list[dict[str, object]] = []
    left = MOST_RUNS
    for group in await consult(page_books.page_groups):
        runs = runs_of(group.pages)
        left -= len(runs)
        contexts = [number for number in group.contexts if number in seen]
        known = {"contexts": contexts, "others": len(group.contexts) - len(contexts)}
        count = {"count": len(group.pages), "pages": runs if left >= 0 else []}
        groups.append({"kind": group.kind, "stored": group.stored, **known, **count})
    stock = await consult(lambda services: services.disk and services.disk.stock)
    return {
        "groups": groups,
        "states": [slot for slot in await consult(page_books.state_slots) if slot.context in seen],
        "disk": [] if stock is None else await asyncio.to_thread(stock.models),
        "model": await consult(lambda services: services.model_info.name),
    }


@answers("page", PageOptions)
async def page(connection: Connection, options: PageOptions) -> dict[str, object]:
    """One page; with its text if the user may see the tokens of a program that holds it."""
    consult, user = partial(connection.service.engine.consult, model=options.model), connection.user
    total = await consult(lambda services: services.store.pool.capacity)
    if not 0 <= options.page < total:
        raise InvalidArgumentError(f"page {options.page}: outside the pool of {total}", hint="pages count from 0")
    seen = await _seen(connection)
    found = await consult(lambda services: page_books.page_detail(services, options.page))
    holders = {number: seen[number] for number in found.contexts if number in seen}
    if not (user.admin or holders or (found.user == user.name and not found.contexts)):
        return {"page": found.page, "kind": found.kind, "others": len(found.contexts)}
    text = ""
    if any(record.shows_tokens for record in holders.values()):
        shown = await consult(lambda services: services.language.tokenizer.shown(found.tokens))
        text = shown[:TEXT_CHARACTERS]
    values = msgspec.structs.asdict(found)
    tokens = len(values.pop("tokens"))
    return {
        **values,
        "user": found.user if user.admin or found.user == user.name else "",
        "contexts": sorted(holders),
        "others": len(found.contexts) - len(holders),
        "tokens": tokens,
        "text": text,
    }


def runs_of(pages: tuple[int, ...]) -> list[tuple[int, int]]:
    """Pages in order as runs, each the first page and how many follow one another."""
    starts = [0, *(place for place, (before, page) in enumerate(pairwise(pages), 1) if page != before + 1)]
    ends = [*starts[1:], len(pages)]
    return [(pages[start], end - start) for start, end in zip(starts, ends, strict=True)] if pages else []


async def _seen(connection: Connection) -> dict[int, ProcessRecord]:
    """The contexts that the user may see, with their processes."""
    records = {record.id: record for record in connection.service.registry.records(connection.user)}

    def contexts(services: Services) -> dict[int, str]:
        return {number: process.id for process in services.processes.values() for number in process.contexts}

    owners = await connection.service.engine.consult_all(contexts)
    return {number: records[name] for one in owners for number, name in one.items() if name in records}
