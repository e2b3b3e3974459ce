"""The running inferlets of an engine."""

import itertools
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from pie_mlx.calls import Embed, Forward, ModelState, Rerank
from pie_mlx.engine.hosting.engine_time import THREADS, EngineTime, LoopDebt
from pie_mlx.engine.hosting.ports import Ports
from pie_mlx.engine.hosting.process import HostedProcess
from pie_mlx.engine.hosting.session import SessionPort
from pie_mlx.engine.market import endowment_credits
from pie_mlx.errors import EngineStoppedError, InvalidArgumentError


class Roster(Mapping[str, HostedProcess]):
    """Processes by id, whichever of the engine's `models` they use. Only the engine's loop changes it."""

    def __init__(self, models: Sequence[str]) -> None:
        self._models, self._instance_id = models, str(uuid.uuid4())
        self.loaded: Callable[[], list[str]] = list
        """Which of them are in memory."""
        self.loading: Callable[[], dict[str, float]] = dict
        """Which of them are being loaded or waited for, and the part of their weights in memory."""
        self.described: Callable[[], list[ModelState]] = list
        """What a program may know of each of them."""
        self.worked: Callable[[str, float], None] = _ignored
        """Called with a user and the seconds that the engine's loop has worked for its calls."""
        self._by_id: dict[str, HostedProcess] = {}
        self._debts: dict[str, LoopDebt] = {}
        self._accounts = itertools.count(1)
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
        model: str = "",
    ) -> HostedProcess:
        """A process begins, on its parent's account or one of its own (M1); without a `process_id` one is drawn. Its
        default model is `model`, its parent's, or the first.

        Raises InvalidArgumentError for a budget below 1 or of a child, EngineStoppedError for a parent that has ended.
        """
        root = None if parent is None else self._parent(parent, token_budget)
        if token_budget is not None:
            endowment_credits(token_budget, 1, 1)
        identity = process_id or str(uuid.uuid4())
        of_user = self._debts.setdefault(username, LoopDebt(partial(self._strangers_compute, username)))
        debts = LoopDebt(partial(self._others_compute, identity)), of_user
        time = EngineTime(self._threads, debts, partial(self.worked, username))
        account = next(self._accounts) if root is None else root.account
        budget = token_budget if root is None else root.token_budget
        first = self._models[0] if root is None else root.models[0]
        process = HostedProcess(
            username,
            program,
            session,
            account,
            time,
            identity,
            ports=ports,
            token_budget=budget,
            models=_from(model or first, self._models),
            loaded=self.loaded,
            loading=self.loading,
            described=self.described,
            instance_id=self._instance_id,
        )
        self._by_id[identity] = process
        return process

    def remove(self, process: HostedProcess) -> bool:
        """Remove a process that holds nothing any more; returns whether it was the last of its account (M1)."""
        self._by_id.pop(process.id, None)
        if all(other.username != process.username for other in self._by_id.values()):
            self._debts.pop(process.username, None)
        return all(other.account != process.account for other in self._by_id.values())

    def close(self) -> None:
        """End the threads that work beside the loop."""
        self._threads.shutdown(wait=False)

    def _parent(self, parent: str, token_budget: int | None) -> HostedProcess:
        if token_budget is not None:
            raise InvalidArgumentError(
                "token_budget: a child spends what its parent has", hint="launch it without, or as a root of its own"
            )
        found = self._by_id.get(parent)
        if found is None or found.closed:
            raise EngineStoppedError(f"process {parent}: it has ended", hint="launch the program again")
        return found

    def _others_compute(self, process_id: str) -> bool:
        """Whether a pass of another process is under way."""
        return _compute(process for process in self._by_id.values() if process.id != process_id)

    def _strangers_compute(self, username: str) -> bool:
        """Whether a pass of another user is under way."""
        return _compute(process for process in self._by_id.values() if process.username != username)


def _from(first: str, models: Sequence[str]) -> list[str]:
    return [first, *(name for name in models if name != first)]


def _ignored(user: str, seconds: float) -> None:
    """Ignore seconds that no scheduler counts."""


def _compute(processes: Iterable[HostedProcess]) -> bool:
    return any(isinstance(call, Forward | Embed | Rerank) for process in processes for call in process.calls.values())
