"""The market as a table: each context's demand of pages and its bid, and where the pool ends."""

import msgspec

from pie_mlx.tui.model.context import activity
from pie_mlx.tui.model.state import MonitorState


class Demand(msgspec.Struct, frozen=True):
    """Pages of a context at its bid; `filled` of them fit the pool, highest bid first; `until` is the running sum."""

    context: int
    process: str
    program: str
    bid: float
    pages: int
    filled: int
    until: int
    status: str


def order_book(state: MonitorState) -> list[Demand]:
    """Demands by bid, highest first. Shared pages count once, for the context that computed them."""
    demands: list[Demand] = []
    total, capacity = 0, state.pages.total
    for context in sorted(state.contexts.values(), key=lambda context: (-context.bid, context.id)):
        held = context.held_pages(state.page_size)
        pages = held - min(context.shared_pages, held)
        process = state.processes.get(context.process)
        filled = max(0, min(pages, capacity - total))
        total += pages
        status = activity(context, state.seconds)
        name = process.program if process else ""
        demands.append(Demand(context.id, context.process, name, context.bid, pages, filled, total, status))
    return demands
