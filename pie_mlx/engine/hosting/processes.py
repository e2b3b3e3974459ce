"""The inferlets that use one model, and the families that share an account."""

from collections.abc import Iterator, Mapping

from pie_mlx.engine.hosting.process import HostedProcess
from pie_mlx.engine.market.accounting import Accounting


class Processes(Mapping[str, HostedProcess]):
    """Processes by id, each as this model knows it. Only the engine's loop changes them.

    `families` are those of each account: a launch root and what was launched from it (M1).
    """

    def __init__(self, accounting: Accounting) -> None:
        self.families: dict[int, list[HostedProcess]] = {}
        self._accounting = accounting
        self._by_id: dict[str, HostedProcess] = {}

    def __getitem__(self, process_id: str) -> HostedProcess:
        return self._by_id[process_id]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_id)

    def __len__(self) -> int:
        return len(self._by_id)

    def add(self, process: HostedProcess) -> None:
        """Add a process that begins to use the model: its launch takes part in the market from now on. Idempotent."""
        if process.id in self._by_id:
            return
        if process.account not in self.families:
            self._accounting.open_account(process.account, process.token_budget)
            self.families[process.account] = []
        self._by_id[process.id] = process
        self.families[process.account].append(process)

    def remove(self, process: HostedProcess) -> None:
        """Remove a process that holds nothing any more, and the account with the last process of its family (M1)."""
        if self._by_id.pop(process.id, None) is None:
            return
        family = self.families[process.account]
        family.remove(process)
        if not family:
            del self.families[process.account]
            self._accounting.close_account(process.account)
