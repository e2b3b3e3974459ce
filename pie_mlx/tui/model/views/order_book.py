"""The market as a table: each context's demand of pages and its bid, and where the pool ends."""

import msgspec

from pie_mlx.tui.model.context import activity
from pie_mlx.tui.model.state import MonitorState


class Demand(msgspec.Struct, frozen=True):
    """Pages of a context at its bid, shared ones in equal parts; `filled` of them fit the pool, highest bid first;
    `until` is the running sum."""

    context: int
    process: str
    program: str
    bid: float
    pages: float
    filled: float
    until: float
    status: str


def order_book(state: MonitorState) -> list[Demand]:
    """Demands by bid, highest first. A context that is off-pool wants all pages of its tokens."""
    demands: list[Demand] = []
    total, capacity = 0.0, state.pages.total
    for context in sorted(state.pool_contexts, key=lambda context: (-context.bid, context.id)):
        pages = float(context.held_pages(state.pool.page_size))
        if context.activity != "suspended":
            pages = context.effective_pages
        process = state.processes.get(context.process)
        filled = max(0.0, min(pages, capacity - total))
        total += pages
        status = activity(context, state.seconds)
        name = process.program if process else ""
        demands.append(Demand(context.id, context.process, name, context.bid, pages, filled, total, status))
    return demands
