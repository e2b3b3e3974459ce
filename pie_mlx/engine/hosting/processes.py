"""The running inferlets, and the families that share an account."""

import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from pie_mlx.calls import Forward
from pie_mlx.engine.hosting.engine_time import THREADS, EngineTime, LoopDebt
from pie_mlx.engine.hosting.ports import Ports
from pie_mlx.engine.hosting.process import HostedProcess
from pie_mlx.engine.hosting.session import SessionPort
from pie_mlx.engine.market.accounting import Accounting
from pie_mlx.errors import EngineStoppedError, InvalidArgumentError


class Processes(Mapping[str, HostedProcess]):
    """Processes by id. Only the engine's loop changes them.

    `families` are the open processes of each account: a launch root and what was launched from it (M1). `worked` gets
    the seconds that the engine's loop works for the calls of a user.
    """

    def __init__(self, accounting: Accounting, worked: Callable[[str, float], None]) -> None:
        self.families: dict[int, list[HostedProcess]] = {}
        self._accounting, self._worked = accounting, worked
        self._by_id: dict[str, HostedProcess] = {}
        self._debts: dict[str, LoopDebt] = {}
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="pie-aside")

    def __getitem__(self, process_id: str) -> HostedProcess:
        return self._by_id[process_id]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_id)

    def __len__(self) -> int:
        return len(self._by_id)

    def open(
        self,
        username: str,
        program: str,
        session: SessionPort,
        *,
        token_budget: int | None,
        process_id: str | None,
        parent: str | None,
        ports: Ports | None,
    ) -> HostedProcess:
        """A process begins, on its parent's account or one of its own (M1); without a `process_id` one is drawn.

        Raises InvalidArgumentError for a budget below 1 or of a child, EngineStoppedError for a parent that has ended.
        """
        account = self._account(parent, token_budget)
        identity = process_id or str(uuid.uuid4())
        of_user = self._debts.setdefault(username, LoopDebt(partial(self._strangers_compute, username)))
        debts = LoopDebt(partial(self._others_compute, identity)), of_user
        time = EngineTime(self._threads, debts, partial(self._worked, username))
        process = HostedProcess(username, program, session, account, time, identity, ports=ports)
        self._by_id[identity] = process
        self.families.setdefault(account, []).append(process)
        return process

    def remove(self, process: HostedProcess) -> None:
        """A process that holds nothing any more is gone, and its account with the last of the family (M1)."""
        if self._by_id.pop(process.id, None) is None:
            return
        if all(other.username != process.username for other in self._by_id.values()):
            del self._debts[process.username]
        family = self.families[process.account]
        family.remove(process)
        if not family:
            del self.families[process.account]
            self._accounting.close_account(process.account)

    def close(self) -> None:
        """End the threads of what is done beside the loop."""
        self._threads.shutdown(wait=False)

    def _account(self, parent: str | None, token_budget: int | None) -> int:
        if parent is None:
            return self._accounting.open_account(token_budget)
        if token_budget is not None:
            raise InvalidArgumentError(
                "token_budget: a child spends what its parent has", hint="launch it without, or as a root of its own"
            )
        found = self._by_id.get(parent)
        if found is None or found.closed:
            raise EngineStoppedError(f"process {parent}: it has ended", hint="launch the program again")
        return found.account

    def _others_compute(self, process_id: str) -> bool:
        """Whether a pass of another process is under way."""
        return _compute(process for process in self._by_id.values() if process.id != process_id)

    def _strangers_compute(self, username: str) -> bool:
        """Whether a pass of another user is under way."""
        return _compute(process for process in self._by_id.values() if process.username != username)


def _compute(processes: Iterable[HostedProcess]) -> bool:
    return any(isinstance(call, Forward) for process in processes for call in process.calls.values())
