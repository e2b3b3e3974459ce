"""What the planner returns."""

import msgspec

from pie_mlx.engine.policies.reason import Reason
from pie_mlx.engine.policies.view import Chunk


class Suspension(msgspec.Struct, frozen=True):
    """Take the pages of `context` for `for_context`, which is itself when it has to make way."""

    context: int
    for_context: int
    reason: Reason


class Wait(msgspec.Struct, frozen=True):
    """`context` gets neither pages nor a row in this tick."""

    context: int
    reason: Reason


class Plan(msgspec.Struct, frozen=True):
    """One tick, to be carried out in this order: suspensions, pages to withhold, restores, grants, chunks.

    The pages of `restores` and `grants` are available once the suspensions are done and pages are withheld. `chunks`
    is sorted by context and may name passes of `grants`. A plan without chunks that moved pages calls for another plan
    at once; it is not a tick.
    """

    chunks: tuple[Chunk, ...] = ()
    grants: tuple[int, ...] = ()
    restores: tuple[int, ...] = ()
    suspensions: tuple[Suspension, ...] = ()
    waits: tuple[Wait, ...] = ()

    @property
    def moves_pages(self) -> bool:
        return bool(self.grants or self.restores or self.suspensions)

    @property
    def tokens(self) -> int:
        return sum(chunk.tokens for chunk in self.chunks)
