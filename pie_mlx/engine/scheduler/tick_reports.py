"""What the tick loop tells the world: events for what changed, nothing for what did not."""

from collections.abc import Callable

from pie_mlx.engine.kv import Restore
from pie_mlx.engine.market import Receipt, Settlement
from pie_mlx.engine.policies import Plan, Reason, Suspension
from pie_mlx.engine.scheduler.live_context import LiveContext
from pie_mlx.events import (
    AccountMovement,
    ContextRestored,
    ContextRestoring,
    ContextSuspended,
    Event,
    MarketSettled,
    PromptProgressed,
    WaitChanged,
)


class TickReports:
    """Remembers why each context waits (`reasons`), so that only changes are events."""

    def __init__(self, emit: Callable[[Event], None]) -> None:
        self.reasons: dict[int, Reason] = {}
        self._emit = emit
        self._price = 0.0

    def planned(self, plan: Plan) -> None:
        """Whom the plan lets wait, and whom no longer."""
        for wait in plan.waits:
            known = self.reasons.get(wait.context)
            if known is None or (known.kind, known.suspended) != (wait.reason.kind, wait.reason.suspended):
                self._emit(WaitChanged(wait.context, wait.reason.kind, wait.reason.text()))
            self.reasons[wait.context] = wait.reason
        if self.reasons:
            for context in (*plan.grants, *(chunk.context for chunk in plan.chunks)):
                self._waits_no_more(context)

    def suspended(self, suspension: Suspension) -> None:
        """The planner took the pages of a context."""
        reason = suspension.reason
        self.reasons[suspension.context] = reason
        self._emit(ContextSuspended(suspension.context, suspension.for_context, reason.kind, reason.text()))

    def suspended_itself(self, context: int) -> None:
        """The program gave the pages back (R2)."""
        self._emit(ContextSuspended(context, context, "requested", "suspended: by its program"))

    def restoring(self, context: int, work: Restore) -> None:
        """A context has its pages; their content is being read or computed again."""
        self._emit(ContextRestoring(context, len(work.reads) + len(work.stored), work.replayed_tokens))

    def restored(self, context: int, work: Restore) -> None:
        """All content of a context is in the pool again."""
        self._waits_no_more(context)
        read = len(work.reads) + len(work.stored)
        self._emit(ContextRestored(context, work.attached, len(work.copies), read, work.replayed_tokens))

    def progressed(self, context: LiveContext, tokens: int) -> None:
        """So many more tokens of a pass are in KV."""
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

    def _waits_no_more(self, context: int) -> None:
        if self.reasons.pop(context, None) is not None:
            self._emit(WaitChanged(context))


def _moves(receipt: Receipt) -> bool:
    return bool(receipt.rent_owed or receipt.make_owed or receipt.dividend)


def _movement(settlement: Settlement, receipt: Receipt) -> AccountMovement:
    account = settlement.ledger.accounts[receipt.account]
    return AccountMovement(
        account.account, receipt.rent_paid, receipt.make_paid, receipt.dividend, account.balance, account.defaulted
    )
