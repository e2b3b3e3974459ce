"""What the pool will hold once the decisions taken so far are carried out."""

from pie_mlx.engine.policies.view import ContextView, View


class PageForecast:
    """Available pages, counting a shared run as freed when its last holder goes.

    Lives within one call of a policy.
    """

    def __init__(self, view: View) -> None:
        self.available = view.available_pages
        self._runs = {shared.run: shared.pages for shared in view.shared_runs}
        self._holders = {shared.run: shared.holders for shared in view.shared_runs}

    def release(self, context: ContextView) -> int:
        """Takes `context` off the pages it holds; returns how many no context holds any more."""
        freed = context.private_pages
        for run in context.shared_runs:
            self._holders[run] -= 1
            if not self._holders[run]:
                freed += self._runs[run]
        return freed

    def hold(self, context: ContextView) -> int:
        """Makes `context` a holder again, as after a restore; returns how many pages no context held before."""
        taken = context.private_pages
        for run in context.shared_runs:
            if not self._holders[run]:
                taken += self._runs[run]
            self._holders[run] += 1
        return taken

    def missing_pages(self, context: ContextView) -> int:
        """Pages of an off-pool context's shared runs that stopped being shared: it must bring them back as well."""
        return sum(self._runs[run] for run in context.shared_runs if self._holders[run] == 0)
