"""Who shares what: effective pages, and what a suspension would free."""

from collections.abc import Iterable
from dataclasses import dataclass

from pie_mlx.engine.kv.contexts.context import Context
from pie_mlx.engine.kv.pages.segment import Segment


@dataclass(frozen=True, slots=True)
class Sharing:
    """`effective` pages of every resident context, and how many pages more than one of them holds."""

    effective: dict[int, float]
    shared_pages: int


def share_out(contexts: Iterable[Context]) -> Sharing:
    """K9: every page is divided equally among the resident contexts that hold it; working pages are their owner's.

    One pass over the held segments: holders are summed from the leaves up, shares from the root down.
    """
    residents = [context for context in contexts if context.resident]
    order, shared_pages = _count_holders(residents), 0
    for segment in reversed(order):
        parent, pages = segment.parent, len(segment.pages)
        segment.share = pages / segment.holders + (parent.share if parent else 0.0)
        shared_pages += pages if segment.holders > 1 else 0
    effective = {
        context.number: context.leaf.share + len(context.block_table) - context.committed for context in residents
    }
    return Sharing(effective, shared_pages)


def _count_holders(residents: list[Context]) -> list[Segment]:
    """Sets `holders` of every held segment; returns them, children before parents.

    `unseen` counts down the contexts and held children not summed yet; then the segment is done, counts for its
    parent, and is back at -1 for the next time.
    """
    done: list[Segment] = []
    for context in residents:
        segment, holders = context.leaf, 1
        while segment.parent is not None:
            if segment.unseen < 0:
                segment.unseen, segment.holders = segment.contexts, 0
            segment.unseen -= 1
            segment.holders += holders
            if segment.unseen:
                break
            segment.unseen = -1
            done.append(segment)
            segment, holders = segment.parent, segment.holders
    return done
