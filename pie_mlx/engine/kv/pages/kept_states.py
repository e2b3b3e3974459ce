"""States of recurrent layers at some places of texts, from which a context can continue without computing all of its
text again."""

from collections import Counter
from heapq import heapify, heappop, heappush
from itertools import count
from typing import Any

from pie_mlx.engine.kv.pages.record import IntegrityError, KeptState, PageRecord


class KeptStates:
    """Kept states within a limit of bytes. Those of least worth are dropped first: the tokens that a use saves, times
    the uses, for the bytes, and on top what the last one that was dropped was worth, so that all of them age.

    What refers to one counts as a holder (`retain`, `release`); one without holders is forgotten. A holder must look
    whether the state is still there, and nothing breaks where it is not: its tokens are computed again.
    """

    def __init__(self, limit_bytes: int) -> None:
        self.limit_bytes = limit_bytes
        self.size_bytes = 0
        self._kept: dict[KeptState, None] = {}
        self._by_worth: list[tuple[float, int, KeptState]] = []
        self._order, self._dropped_worth = count(), 0.0
        self._added: list[KeptState] = []
        self._lost: list[tuple[KeptState, Any]] = []
        self._released: list[Any] = []

    def __len__(self) -> int:
        return len(self._kept)

    def keep(self, state: Any, tokens: int, size_bytes: int, saves: int) -> KeptState | None:
        """Keep a state, whose caller must `retain` it; each use `saves` computing so many tokens. None if it alone
        exceeds the limit."""
        if size_bytes > self.limit_bytes:
            return None
        while self.size_bytes + size_bytes > self.limit_bytes:
            least = self._least()
            self._dropped_worth = least.worth
            self._drop(least)
        kept = KeptState(state, tokens, size_bytes, saves)
        self._kept[kept] = None
        self._weigh(kept)
        self.size_bytes += size_bytes
        self._added.append(kept)
        return kept

    def retain(self, kept: KeptState, *, wanted: bool = False) -> None:
        """Add a holder, which is an image if `wanted`."""
        kept.holders += 1
        kept.wanted += wanted

    def release(self, kept: KeptState, *, wanted: bool = False) -> None:
        """Remove a holder."""
        kept.holders -= 1
        kept.wanted -= wanted
        if not kept.holders and kept.state is not None:
            self._drop(kept)
        if not kept.wanted:
            self.forget_spill(kept)

    def use(self, kept: KeptState) -> Any:
        """The state, which was used once more; None if it was dropped."""
        if kept.state is not None:
            kept.uses += 1
            self._weigh(kept)
        return kept.state

    def attach(self, record: PageRecord, kept: KeptState) -> None:
        """The page of `record` ends with `kept`."""
        self.retain(kept)
        self.detach(record)
        record.checkpoint = kept

    def detach(self, record: PageRecord) -> None:
        """The page of `record` is gone."""
        kept, record.checkpoint = record.checkpoint, None
        if kept is not None:
            self.release(kept)

    def inherit(self, record: PageRecord, equal: PageRecord) -> None:
        """The page `equal` takes the place of that of `record`, whose tokens are the same."""
        kept, there = record.checkpoint, equal.checkpoint
        if kept is not None and kept.state is not None and (there is None or there.state is None):
            self.attach(equal, kept)

    def cut(self, held: list[KeptState], tokens: int) -> None:
        """A holder of some, in order, now has no more than `tokens` tokens."""
        while held and held[-1].tokens > tokens:
            self.release(held.pop())

    def clear(self) -> None:
        """Drop all of them."""
        for kept in list(self._kept):
            self._drop(kept)

    # The bytes, which others move.

    def pop_added(self) -> list[KeptState]:
        """The states kept since the last call."""
        added, self._added = self._added, []
        return [kept for kept in added if kept.state is not None]

    def pop_lost(self) -> list[tuple[KeptState, Any]]:
        """What was dropped since the last call although an image wants it, with its state."""
        lost, self._lost = self._lost, []
        return [(kept, state) for kept, state in lost if kept.wanted]

    def mark_spilled(self, kept: KeptState, key: Any) -> None:
        """The state was written to the spill file as `key`."""
        if kept.wanted and kept.spill is None:
            kept.spill = key
        else:
            self._released.append(key)

    def forget_spill(self, kept: KeptState) -> None:
        """The spilled state cannot be read."""
        if kept.spill is not None:
            self._released.append(kept.spill)
            kept.spill = None

    def pop_released(self) -> list[Any]:
        """Keys in the spill file that no image needs any more, each once."""
        released, self._released = self._released, []
        return released

    def check(self, holders: Counter[KeptState], wanted: Counter[KeptState]) -> None:
        """Raises IntegrityError if these holders, or the bytes of all states, are not those counted here."""
        if any(kept.holders != holders[kept] or kept.wanted != wanted[kept] for kept in {*self._kept, *holders}):
            raise IntegrityError("a kept state has other holders")
        if any((kept.state is not None) != (kept in self._kept) for kept in holders):
            raise IntegrityError("a state is kept without a holder")
        if sum(kept.size_bytes for kept in self._kept) != self.size_bytes or self.size_bytes > self.limit_bytes:
            raise IntegrityError(f"kept states: {self.size_bytes} bytes of {self.limit_bytes} are wrong")

    def _weigh(self, kept: KeptState) -> None:
        kept.worth = self._dropped_worth + kept.uses * kept.saves / max(1, kept.size_bytes)
        heappush(self._by_worth, (kept.worth, next(self._order), kept))
        if len(self._by_worth) > 2 * len(self._kept) + 64:
            self._by_worth = [entry for entry in self._by_worth if _is_current(entry)]
            heapify(self._by_worth)

    def _least(self) -> KeptState:
        while not _is_current(self._by_worth[0]):
            heappop(self._by_worth)
        return self._by_worth[0][2]

    def _drop(self, kept: KeptState) -> None:
        del self._kept[kept]
        self.size_bytes -= kept.size_bytes
        if kept.wanted and kept.spill is None:
            self._lost.append((kept, kept.state))
        kept.state = None


def _is_current(entry: tuple[float, int, KeptState]) -> bool:
    worth, _, kept = entry
    return kept.state is not None and kept.worth == worth
