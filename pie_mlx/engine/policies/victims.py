"""Resident contexts in the order in which they have to yield."""

from bisect import bisect_left
from collections.abc import Callable, Iterator
from itertools import accumulate

from pie_mlx.engine.policies.base import Order
from pie_mlx.engine.policies.view import ContextView, View


class Victims:
    """The queue of those that could be suspended. Lives within one call of a policy."""

    def __init__(self, view: View, order: Order) -> None:
        candidates = [item for item in view.contexts if item.resident and has_pages(item)]
        self._queue = sorted(candidates, key=order.victim_rank)
        self._gone: set[int] = set()
        self._start = 0
        self._most_freed = [0, *accumulate(_most_freed(self._queue, view))]

    def reach(self, yields: Callable[[ContextView], bool]) -> int:
        """How far down the queue victims yield. `yields` is monotone along it (see Order)."""
        return bisect_left(self._queue, True, key=lambda victim: not yields(victim))

    @property
    def all(self) -> int:
        return len(self._queue)

    def most_pages(self, reach: int) -> int:
        """At least as many pages as suspending all victims up to `reach` would free."""
        return self._most_freed[max(reach, self._start)] - self._most_freed[self._start]

    def up_to(self, reach: int) -> Iterator[ContextView]:
        """The victims up to `reach` that are still there, in order."""
        for index in range(self._start, reach):
            victim = self._queue[index]
            if victim.context not in self._gone:
                yield victim

    def remove(self, victim: ContextView) -> None:
        """Takes `victim` out of the queue."""
        self._gone.add(victim.context)
        while self._start < len(self._queue) and self._queue[self._start].context in self._gone:
            self._start += 1


def has_pages(context: ContextView) -> bool:
    return bool(context.private_pages or context.shared_runs)


def _most_freed(queue: list[ContextView], view: View) -> Iterator[int]:
    """For each victim all the pages it has: it frees them if the others of its shared runs went before."""
    pages = {shared.run: shared.pages for shared in view.shared_runs}
    for victim in queue:
        yield victim.private_pages + sum(pages[run] for run in victim.shared_runs)
