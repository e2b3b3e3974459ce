"""The models of the engine, while events are folded into them."""

from collections import deque
from collections.abc import Mapping

from msgspec.structs import replace

from pie_mlx.events import (
    AccountJoined,
    AccountLeft,
    EngineStarted,
    Event,
    MarketSettled,
    MemoryChanged,
    ModelChanged,
    ModelProgressed,
    PagesCounted,
    PagesSpilled,
    PageUsage,
    SpillChanged,
    TickCompleted,
)
from pie_mlx.tui.model.model_pool import NO_PAGES, AccountState, ModelPool, PoolSample, settled
from pie_mlx.tui.model.state import BALANCE_SAMPLES, HISTORY_SAMPLES


class _Growing:
    """A pool with mutable copies of what changes often."""

    def __init__(self, pool: ModelPool) -> None:
        self.pool = pool
        self.accounts, self.held = dict(pool.accounts), dict(pool.held)
        self.history = deque(pool.history, HISTORY_SAMPLES)

    def set(self, **changes: object) -> None:
        self.pool = replace(self.pool, **changes)

    def empty(self, total_pages: int) -> None:
        """It has no pages and no market, or new ones."""
        self.accounts, self.held = {}, {}
        self.set(pages=PageUsage(total_pages, 0, 0, 0) if total_pages else NO_PAGES, price=0.0, treasury=0.0)
        self.set(spilled_pages=0, spill="", memory="normal", ticks=0, decoded=0)

    def finished(self) -> ModelPool:
        return replace(self.pool, accounts=self.accounts, held=self.held, history=tuple(self.history))


class Pools:
    """Models by name. `first` is that of events which name none."""

    def __init__(self, pools: Mapping[str, ModelPool], first: str) -> None:
        self._pools = {name: _Growing(pool) for name, pool in pools.items()}
        self.first = first

    def finished(self) -> dict[str, ModelPool]:
        """All of them, after all events so far."""
        return {name: growing.finished() for name, growing in self._pools.items()}

    def page_size(self, model: str) -> int:
        """Tokens in a page of a model."""
        return self._of(model).pool.page_size

    def held_by(self, process: str) -> tuple[int, int]:
        """Pages of a process, of whatever model: its own, and those that others hold too."""
        found = [growing.held[process] for growing in self._pools.values() if process in growing.held]
        return sum(pages.own for pages in found), sum(pages.shared for pages in found)

    def start(self, event: EngineStarted) -> bool:
        """The default model is there. Whether a new engine has begun: what an earlier one in the same log had is
        gone."""
        named = self._pools.get(event.model)
        is_new = named is None or named.pool.state != "loading"
        if is_new:
            self._pools = {}
        self.first = event.model
        growing = self._of(event.model)
        growing.empty(event.total_pages)
        growing.set(state="loaded", page_size=event.page_size)
        return is_new

    def apply(self, event: Event) -> None:
        """Apply an event of one of them; others change nothing."""
        match event:
            case TickCompleted():
                growing = self._of(event.model)
                decoded = growing.pool.decoded + (event.decoded_tokens or 0)
                growing.set(ticks=event.tick, decoded=decoded)
            case PagesCounted():
                self._count(self._of(event.model), event)
            case MarketSettled():
                self._settle(self._of(event.model), event)
            case AccountJoined(account=number, endowment=endowment):
                self._of(event.model).accounts[number] = AccountState(number, endowment, endowment)
            case AccountLeft(account=number, treasury=treasury):
                growing = self._of(event.model)
                growing.accounts.pop(number, None)
                growing.set(treasury=treasury)
            case PagesSpilled(stored_pages=pages):
                self._of(event.model).set(spilled_pages=pages)
            case SpillChanged(state=spill):
                self._of(event.model).set(spill=spill)
            case MemoryChanged(level=level):
                self._of(event.model).set(memory=level)
            case ModelChanged():
                self._change(self._of(event.model), event)
            case ModelProgressed(progress=progress):
                self._of(event.model).set(state="loading", progress=progress)
            case _:
                pass

    def count_decoded(self, model: str, tokens: int) -> None:
        """A pass added tokens to a text, and its tick does not say so."""
        growing = self._of(model)
        growing.set(decoded=growing.pool.decoded + tokens)

    def sample(self, seconds: float) -> None:
        """The figures of the `seconds` since the latest sample."""
        for growing in self._pools.values():
            pool = growing.pool
            growing.history.append(PoolSample(pool.pages.used, pool.price, pool.decoded / seconds))
            if pool.decoded:
                growing.set(decoded=0)
            for number, account in growing.accounts.items():
                balances = (*account.balances[1 - BALANCE_SAMPLES :], account.balance)
                growing.accounts[number] = replace(account, balances=balances)

    def _of(self, model: str) -> _Growing:
        name = model or self.first
        if name not in self._pools:
            self._pools[name] = _Growing(ModelPool(name))
        return self._pools[name]

    def _count(self, growing: _Growing, event: PagesCounted) -> None:
        growing.set(pages=event.pages)
        for pages in event.processes:
            if pages.own or pages.shared:
                growing.held[pages.process] = pages
            else:
                growing.held.pop(pages.process, None)

    def _settle(self, growing: _Growing, event: MarketSettled) -> None:
        growing.set(price=event.price)
        for moved in event.movements:
            if account := growing.accounts.get(moved.account):
                growing.accounts[moved.account] = settled(account, moved)

    def _change(self, growing: _Growing, event: ModelChanged) -> None:
        if event.state != "loaded":
            growing.empty(0)
        elif event.total_pages and not growing.pool.pages.total:
            growing.empty(event.total_pages)
        size = event.page_size or growing.pool.page_size
        growing.set(state=event.state, progress=0.0, size_bytes=event.size_bytes, page_size=size)
        growing.set(draft_model=event.draft_model or growing.pool.draft_model)
