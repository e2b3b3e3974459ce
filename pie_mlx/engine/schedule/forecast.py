"""What the pool will hold once the decisions taken so far are carried out."""

from collections import Counter

import msgspec

from pie_mlx.engine.schedule.view import ContextView, View


class Freed(msgspec.Struct, frozen=True):
    """Pages nobody holds any more: `now`, or `later` because a pinned context held them too."""

    now: int
    later: int


class PageForecast:
    """Available and coming pages, counting a shared run as freed when its last holder goes.

    Lives within one call of a policy.
    """

    def __init__(self, view: View) -> None:
        self.available = view.available_pages
        self._runs = {shared.run: shared.pages for shared in view.shared_runs}
        self._holders = {shared.run: shared.holders for shared in view.shared_runs}
        self._pinned_releases: Counter[int] = Counter()
        self.coming = sum(self.release(context).later for context in view.contexts if context.leaving)

    def release(self, context: ContextView) -> Freed:
        """Takes `context` off the pages it holds."""
        now, later = (0, context.private_pages) if context.pinned else (context.private_pages, 0)
        for run in context.shared_runs:
            self._holders[run] -= 1
            self._pinned_releases[run] += context.pinned
            if self._holders[run]:
                continue
            if self._pinned_releases[run]:
                later += self._runs[run]
            else:
                now += self._runs[run]
        return Freed(now, later)

    def hold(self, context: ContextView) -> bool:
        """Makes `context` a holder again, as after a restore. Whether that takes back any page `release` freed."""
        taken = context.private_pages > 0
        for run in context.shared_runs:
            taken = taken or self._holders[run] == 0
            self._holders[run] += 1
            self._pinned_releases[run] -= context.pinned
        return taken

    def missing_pages(self, context: ContextView) -> int:
        """Pages of an off-pool context's shared runs that stopped being shared: it must bring them back as well."""
        return sum(self._runs[run] for run in context.shared_runs if self._holders[run] == 0)
