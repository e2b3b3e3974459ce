"""What the engine reports: events for what a tick changed, and soon after whose the pages are."""

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from msgspec.structs import replace

from pie_mlx.engine.kv import Context, PageStore, Restore, count_pages, share_out
from pie_mlx.engine.market import Receipt, Settlement
from pie_mlx.engine.policies import Plan, Reason, Suspension
from pie_mlx.engine.scheduler.live_context import LiveContext
from pie_mlx.events import (
    AccountMovement,
    ContextCreated,
    ContextForked,
    ContextPages,
    ContextReleased,
    ContextRestored,
    ContextRestoring,
    ContextSuspended,
    Event,
    MarketSettled,
    MemoryChanged,
    PagesCounted,
    PageUsage,
    ProcessPages,
    PromptProgressed,
    TickCompleted,
    WaitChanged,
)


class TickReports:
    """Remembers why each context waits (`reasons`), so that only changes are events.

    A context that has lost its pages may want nothing; once it asks for something, that is an event too.
    """

    def __init__(self, emit: Callable[[Event], None], clock: Callable[[], float] = time.monotonic) -> None:
        self.reasons: dict[int, Reason] = {}
        self._emit = emit
        self._clock = clock
        self._price = 0.0
        self._silent: set[int] = set()

    def planned(self, plan: Plan) -> None:
        """Whom the plan lets wait, and whom no longer."""
        for wait in plan.waits:
            known = self.reasons.get(wait.context)
            is_new = known is None or (known.kind, known.suspended) != (wait.reason.kind, wait.reason.suspended)
            if is_new or wait.context in self._silent:
                self._silent.discard(wait.context)
                self._emit(WaitChanged(wait.context, wait.reason.kind, wait.reason.text(), self._clock()))
            self.reasons[wait.context] = wait.reason
        if self.reasons:
            for context in (*plan.grants, *(chunk.context for chunk in plan.chunks)):
                self._waits_no_more(context)

    def suspended(self, suspension: Suspension) -> None:
        """The planner took the pages of a context."""
        reason = suspension.reason
        self.reasons[suspension.context] = reason
        self._silent.add(suspension.context)
        for_context = suspension.for_context
        self._emit(ContextSuspended(suspension.context, for_context, reason.kind, reason.text(), self._clock()))

    def suspended_itself(self, context: int) -> None:
        """The program gave the pages back (R2)."""
        self._emit(ContextSuspended(context, context, "requested", "suspended: by its program", self._clock()))

    def restoring(self, report: ContextRestoring) -> None:
        """A context has its pages; their content is being read or computed again."""
        self._emit(replace(report, at_seconds=self._clock()))

    def restored(self, context: int, work: Restore) -> None:
        """All content of a context is in the pool again."""
        self._waits_no_more(context)
        read = len(work.reads) + len(work.stored)
        counts = (work.attached, len(work.copies), read, work.replayed_tokens)
        self._emit(ContextRestored(context, *counts, self._clock()))

    def progressed(self, context: LiveContext, tokens: int) -> None:
        """A pass has so many more tokens in KV."""
        context.read_tokens += tokens
        if context.read_tokens < context.prompt_tokens:
            self._emit(PromptProgressed(context.id, context.read_tokens, context.prompt_tokens))

    def settled(self, tick: int, settlement: Settlement) -> None:
        """Credits moved, or the price did."""
        moved = tuple(_movement(settlement, receipt) for receipt in settlement.receipts if _moves(receipt))
        if moved or settlement.price != self._price:
            self._price = settlement.price
            self._emit(MarketSettled(tick, settlement.price, moved))

    def forget(self, context: int) -> None:
        """The context is released."""
        self.reasons.pop(context, None)
        self._silent.discard(context)

    def _waits_no_more(self, context: int) -> None:
        if self.reasons.pop(context, None) is not None:
            self._emit(WaitChanged(context, at_seconds=self._clock()))


def _moves(receipt: Receipt) -> bool:
    return bool(receipt.rent_owed or receipt.make_owed or receipt.dividend)


def _movement(settlement: Settlement, receipt: Receipt) -> AccountMovement:
    account = settlement.ledger.accounts[receipt.account]
    return AccountMovement(
        account.account,
        receipt.rent_paid,
        receipt.make_paid,
        receipt.dividend,
        account.balance,
        account.defaulted,
        account.spent,
    )


COUNT_SECONDS = 0.1
"""From an event that may have moved pages to the count: counting takes longer than anything else about an event."""


@dataclass(frozen=True, slots=True)
class PageCounts:
    """The pages of the pool, of every process and of every context, at one moment."""

    pages: PageUsage
    processes: Mapping[str, ProcessPages]
    contexts: Mapping[int, ContextPages]


class PageReport:
    """Passes events on, and emits soon after how the counts of pages changed. For one loop."""

    def __init__(self, store: PageStore, emit: Callable[[Event], None]) -> None:
        self._store, self._emit = store, emit
        self._process_of: dict[int, str] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._reported = PageCounts(PageUsage(0, 0, 0, 0), {}, {})

    def emit(self, event: Event) -> None:
        """Pass an event on, and count soon if it may have moved pages."""
        self._emit(event)
        match event:
            case ContextCreated(process=process, context=context) | ContextForked(process=process, context=context):
                self._process_of[context] = process
            case ContextReleased(context=context):
                self._process_of.pop(context, None)
            case TickCompleted() | ContextSuspended() | ContextRestored() | MemoryChanged():
                pass
            case _:
                return
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(COUNT_SECONDS, self.count)

    def close(self) -> None:
        """Stop the timer."""
        if self._timer is not None:
            self._timer.cancel()

    def count(self) -> PageCounts:
        """The counts of this moment. What differs from the latest ones becomes an event, so that all displays agree."""
        self.close()
        self._timer = None
        reported, counts = self._reported, self._counted()
        if counts != reported:
            self._reported = counts
            emptied = [ProcessPages(name, 0, 0) for name in reported.processes if name not in counts.processes]
            changed = [one for name, one in counts.processes.items() if reported.processes.get(name) != one]
            contexts = [one for number, one in counts.contexts.items() if reported.contexts.get(number) != one]
            self._emit(PagesCounted(counts.pages, (*changed, *emptied), tuple(contexts)))
        return counts

    def _counted(self) -> PageCounts:
        sharing = share_out(self._store.contexts)
        usage = self._store.usage(sharing)
        held = [context for context in self._store.contexts if context.number in self._process_of]
        families: dict[str, list[Context]] = {}
        for context in held:
            families.setdefault(self._process_of[context.number], []).append(context)
        processes = count_pages(families)
        contexts = count_pages({context.number: [context] for context in held})
        return PageCounts(
            PageUsage(usage.capacity, usage.used, usage.shared, usage.cached, usage.withheld),
            {name: ProcessPages(name, count.own, count.shared) for name, count in processes.items()},
            {
                number: ContextPages(number, count.own, count.shared, round(sharing.effective.get(number, 0.0), 3))
                for number, count in contexts.items()
            },
        )
