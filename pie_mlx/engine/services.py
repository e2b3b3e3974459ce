"""What the engine's answers work with."""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, field

from pie_mlx.calls import ModelInfo
from pie_mlx.engine.adapters import AdapterRegistry
from pie_mlx.engine.archive import SnapshotArchive
from pie_mlx.engine.bank import Bank
from pie_mlx.engine.draft_model import DraftDesk
from pie_mlx.engine.drafting import Allowance
from pie_mlx.engine.engine_time import THREADS
from pie_mlx.engine.kv import PageStore
from pie_mlx.engine.live_context import LiveContext
from pie_mlx.engine.market import Horizon
from pie_mlx.engine.model.runner import Runner
from pie_mlx.engine.pressure import MemoryKeeper
from pie_mlx.engine.process import Process
from pie_mlx.engine.text.chats import Chats
from pie_mlx.engine.text.grammar import GrammarService
from pie_mlx.engine.text.tokenizer import Tokenizer
from pie_mlx.engine.ticker import Ticker
from pie_mlx.engine.turns import Turns
from pie_mlx.engine.underway import Underway
from pie_mlx.engine.vocabulary import check_tokens
from pie_mlx.errors import EngineStoppedError, InvalidArgumentError, ModelNotFoundError
from pie_mlx.events import ContextReleased, Event

TEXT_THREADS = 2
COMPILING_THREADS = 4
"""One program, which has one step at a time, holds up no other."""


@dataclass(slots=True)
class Services:
    """The parts of a running engine, wired once the model is loaded.

    `store` counts pages, `ticker` lets contexts wait and run, `runner` owns the device. `seed` keys every random stream
    of this engine (L6). `draft_desk` is there when a draft model is; `repetitions` is for drafts without one. Snapshots
    are kept in the `archive` too where a program, or without its word `persists`, says so (N7).
    The `keeper` says what to do without while the system is short of memory.
    """

    version: str
    instance_id: str
    seed: int
    model_info: ModelInfo
    runner: Runner
    store: PageStore
    ticker: Ticker
    keeper: MemoryKeeper
    bank: Bank
    tokenizer: Tokenizer
    chats: Chats
    grammars: GrammarService
    adapters: AdapterRegistry
    draft_desk: DraftDesk | None
    archive: SnapshotArchive
    persists: bool
    emit: Callable[[Event], None]
    processes: dict[str, Process] = field(default_factory=dict[str, Process])
    clock: Callable[[], float] = time.monotonic
    threads: Executor = field(default_factory=lambda: ThreadPoolExecutor(THREADS, thread_name_prefix="pie-aside"))
    repetitions: Allowance = field(default_factory=Allowance)
    underway: Underway = field(default_factory=Underway)
    turns: Turns = field(default_factory=lambda: Turns(TEXT_THREADS, "pie-texts"))
    compiling: Turns = field(default_factory=lambda: Turns(COMPILING_THREADS, "pie-compiling"))
    families: dict[int, list[Process]] = field(default_factory=dict[int, list[Process]])
    """The open processes of each account: a launch root and what was launched from it (M1)."""
    _pages_of_accounts: dict[int, tuple[int, int]] = field(default_factory=dict[int, tuple[int, int]])
    """When they were counted, and the pages."""

    @property
    def model_name(self) -> str:
        return self.model_info.name

    def check_model(self, name: str) -> None:
        """Raises ModelNotFoundError for a name this engine has not loaded (I2)."""
        if name != self.model_name:
            raise ModelNotFoundError(
                f"model {name!r}: not loaded by this engine", hint=f"loaded models: {self.model_name}"
            )

    def check_tokens(self, tokens: Sequence[int]) -> None:
        """Raises InvalidArgumentError for an id outside the vocabulary."""
        check_tokens(tokens, self.model_info.vocabulary_size)

    def check_stateless(self, what: str) -> None:
        """Raises InvalidArgumentError for what a model with recurrent layers cannot do: their state is not in pages."""
        if self.runner.model.recurrent:
            raise InvalidArgumentError(
                f"{what}: {self.model_name} has recurrent layers, whose running state is not kept in pages",
                hint="keep the context, or fork it",
            )

    def account_for(self, parent: str | None, token_budget: int | None) -> int:
        """The account of a new process: its parent's, or one of its own (M1).

        Raises InvalidArgumentError for a budget below 1 or of a child, EngineStoppedError for a parent that has ended.
        """
        if parent is None:
            return self.bank.open_account(token_budget)
        if token_budget is not None:
            raise InvalidArgumentError(
                "token_budget: a child spends what its parent has", hint="launch it without, or as a root of its own"
            )
        found = self.processes.get(parent)
        if found is None or found.closed:
            raise EngineStoppedError(f"process {parent}: it has ended", hint="launch the program again")
        return found.account

    def enrol(self, process: Process) -> None:
        """A process begins."""
        self.processes[process.id] = process
        self.families.setdefault(process.account, []).append(process)

    def dismiss(self, process: Process) -> None:
        """A process that holds nothing any more is gone, and its account with the last of the family (M1)."""
        if self.processes.pop(process.id, None) is None:
            return
        family = self.families[process.account]
        family.remove(process)
        if not family:
            del self.families[process.account]
            self._pages_of_accounts.pop(process.account, None)
            self.bank.close_account(process.account)

    def adopt(self, process: Process, context: int, *, sampled: int = 0) -> LiveContext:
        """Give a context of the store to a process; forks and opened snapshots inherit the count of draws."""
        live = LiveContext.new(context, process.account, self.seed, sampled=sampled)
        process.contexts[context] = live
        self._pages_of_accounts.pop(process.account, None)
        self.ticker.adopt(live)
        return live

    def rebid(self, process: Process, context: LiveContext, expected: Horizon) -> None:
        """Renew the automatic bid of a context from fresh figures (B4, B5)."""
        context.expected = expected
        pages = self.store.pages_of(context.id)
        context.bid = self.bank.automatic_bid(process.account, pages, self._account_pages(process.account), expected)

    def _account_pages(self, account: int) -> int:
        """Pages of all contexts of an account, each counting for at least one; walked once a tick."""
        moment = self.ticker.ticks
        known = self._pages_of_accounts.get(account)
        if known is None or known[0] != moment:
            contexts = (number for member in self.families[account] for number in member.contexts)
            known = moment, sum(max(1, self.store.pages_of(number)) for number in contexts)
            self._pages_of_accounts[account] = known
        return known[1]

    async def release(self, process: Process, context: LiveContext) -> None:
        """Release a context's pages once the pass it has in flight is over (P15)."""
        context.released = True
        self._pages_of_accounts.pop(process.account, None)
        async with context.turn:
            self.store.release(context.id)
            self.runner.model.set_state(context.id, None)
            if self.draft_desk is not None:
                self.draft_desk.forget(context.id)
            self.ticker.forget(context)
            self.emit(ContextReleased(process.id, context.id, self.clock(), self.ticker.page_usage()))
