"""The parts of a loaded model that handlers work with."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from pie_mlx.calls import ModelInfo
from pie_mlx.engine.adapters import AdapterRegistry
from pie_mlx.engine.embedding.embedder import Embedder
from pie_mlx.engine.hosting.process import HostedProcess
from pie_mlx.engine.hosting.processes import Processes
from pie_mlx.engine.kv import IntegrityError, PageStore
from pie_mlx.engine.kv.inflight_prefixes import InflightPrefixes
from pie_mlx.engine.language import Language
from pie_mlx.engine.market import Horizon
from pie_mlx.engine.market.accounting import Accounting
from pie_mlx.engine.model.rules.warming import RuleWarmer
from pie_mlx.engine.model.runner.runner import Runner
from pie_mlx.engine.model.runner.token_watch import TokenWatch
from pie_mlx.engine.model_names import ModelNames
from pie_mlx.engine.paging.archive import SnapshotArchive
from pie_mlx.engine.paging.disk.disk_cache import DiskCache
from pie_mlx.engine.scheduler.live_context import LiveContext
from pie_mlx.engine.scheduler.queue import SchedulerQueue
from pie_mlx.engine.scheduler.reports import PageReport
from pie_mlx.engine.speculation.drafts import Drafts
from pie_mlx.events import ContextReleased, Event, WantedDetails


@dataclass(slots=True)
class Services:
    """The parts of a model that is loaded, wired.

    `store` counts pages, `queue` lets contexts wait and run, `runner` owns the device. `seed` keys every random stream
    of this engine (L6). `jumps`: what a grammar leaves no choice about is not drawn (G16).
    """

    seed: int
    names: ModelNames
    model_info: ModelInfo
    runner: Runner
    store: PageStore
    queue: SchedulerQueue
    accounting: Accounting
    processes: Processes
    language: Language
    vectors: Embedder
    adapters: AdapterRegistry
    drafts: Drafts
    archive: SnapshotArchive
    disk: DiskCache | None
    page_report: PageReport
    emit: Callable[[Event], None]
    details: WantedDetails
    rules: RuleWarmer | None = None
    """None where the device compiles no rules."""
    held_bytes: int = 0
    """What weights and pools take of the memory."""
    clock: Callable[[], float] = time.monotonic
    jumps: bool = True
    inflight_prefixes: InflightPrefixes = field(default_factory=InflightPrefixes)
    _pages_of_accounts: dict[int, tuple[int, int]] = field(default_factory=dict[int, tuple[int, int]])
    """When they were counted, and the pages."""

    def check_model(self, name: str) -> None:
        """Raises ModelNotFoundError for a name this engine does not know (I2)."""
        if name != self.model_info.name:
            self.names.resolve(name)

    def embedder(self, name: str) -> Embedder:
        """How a model makes vectors. Raises ModelNotFoundError (I2)."""
        self.check_model(name)
        return self.vectors

    def adopt(self, process: HostedProcess, context: int, *, sampled: int = 0, parent: int = 0) -> LiveContext:
        """Give a context of the store to a process; forks and opened snapshots inherit the count of draws."""
        live = LiveContext.new(context, process.account, self.seed, sampled=sampled, parent=parent)
        live.user = process.username
        live.watch = TokenWatch() if process.token_watchers else None
        self.store.contexts[context].owner = process.owner
        process.contexts[context] = live
        self._pages_of_accounts.pop(process.account, None)
        self.queue.adopt(live)
        return live

    def rebid(self, process: HostedProcess, context: LiveContext, expected: Horizon) -> None:
        """Renew the automatic bid of a context from fresh figures (B4, B5)."""
        context.expected = expected
        pages = self.store.contexts[context.id].priced_pages
        context.bid = self.accounting.automatic_bid(
            process.account, pages, self._account_pages(process.account), expected
        )

    def _account_pages(self, account: int) -> int:
        """Pages of all contexts of an account, each counting for at least one; walked once a tick."""
        moment = self.queue.ticks
        known = self._pages_of_accounts.get(account)
        if known is None or known[0] != moment:
            held, family = self.store.contexts, self.processes.families[account]
            known = moment, sum([max(1, held[number].priced_pages) for member in family for number in member.contexts])
            self._pages_of_accounts[account] = known
        return known[1]

    def check_integrity(self) -> None:
        """Raises IntegrityError if pages, kept states or the states of contexts contradict each other. Walks
        everything: for tests and idle moments."""
        self.store.check_integrity()
        network = self.runner.model.network
        for number in network.stateful():
            known = network.state(number)
            if number not in self.store.contexts or not self.store.contexts[number].resident or known is None:
                raise IntegrityError(f"context {number}: it has a state, and is not in the pool")
            if self.store.contexts[number].usable and known.tokens > self.store.sequence_length(number):
                raise IntegrityError(f"context {number}: its state is of {known.tokens} tokens, it has fewer")

    async def release(self, process: HostedProcess, context: LiveContext) -> None:
        """Release a context's pages once the pass it has in flight is over (P15)."""
        context.released = True
        self._pages_of_accounts.pop(process.account, None)
        async with context.turn:
            self.store.release(context.id)
            self.runner.model.network.set_state(context.id, None)
            self.drafts.forget(context.id)
            self.queue.forget(context)
            self.emit(ContextReleased(process.id, context.id, self.clock()))
