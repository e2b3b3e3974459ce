"""Who gets pages, who gives them, who waits: rules Q3 to Q6 over one view."""

from dataclasses import dataclass, field

from msgspec.structs import replace

from pie_mlx.engine.policies.base import Order
from pie_mlx.engine.policies.forecast import PageForecast
from pie_mlx.engine.policies.plan import Suspension, Wait
from pie_mlx.engine.policies.reason import Reason, ReasonKind
from pie_mlx.engine.policies.turnover import due_window_ticks, patience_ticks, residency_rows
from pie_mlx.engine.policies.victims import Victims, has_pages
from pie_mlx.engine.policies.view import ContextView, RequestView, View


@dataclass(slots=True)
class Allocation:
    """Page moves of one tick. `moved` holds the contexts it names: they can be no victims any more."""

    grants: list[int] = field(default_factory=list[int])
    restores: list[int] = field(default_factory=list[int])
    suspensions: list[Suspension] = field(default_factory=list[Suspension])
    waits: list[Wait] = field(default_factory=list[Wait])
    moved: set[int] = field(default_factory=set[int])

    @property
    def serves_any(self) -> bool:
        return bool(self.grants or self.restores)


def allocate(view: View, order: Order, due_at_once: int | None = None) -> Allocation:
    """Serves the requests of `view` in rank order; `due_at_once` names a context that counts as due (Q2)."""
    return _Allocator(view, order, due_at_once).run()


def first_waiting(view: View, order: Order) -> int | None:
    """The context that is due at once when nothing can run: the first of those that wait for pages."""
    contexts = {context.context: context for context in view.contexts}
    waiting = [contexts[request.context] for request in view.requests]
    return min(waiting, key=order.page_rank).context if waiting else None


@dataclass(slots=True)
class _Offer:
    """Victims tried for one request, and the `pages` there are once they went, of those `wanted`.

    `protected` pages belong to contexts that would yield but for work they run first.
    """

    pages: int
    wanted: int
    protected: int = 0
    victims: list[ContextView] = field(default_factory=list[ContextView])


class _Allocator:
    def __init__(self, view: View, order: Order, due_at_once: int | None) -> None:
        self.view = view
        self.order = order
        self.due_at_once = due_at_once
        self.contexts = {context.context: context for context in view.contexts}
        self.pages = PageForecast(view)
        self.result = Allocation()
        self.victims = Victims(view, order)
        self.window, self.residency = due_window_ticks(view.limits), residency_rows(view.limits)
        self.patience = patience_ticks(view.limits)
        self.first: ContextView | None = None
        self.leaves_room = self.residency > 0 and order.leaves_room
        established = filter(_is_established, view.contexts if self.leaves_room else ())
        self.growth = sum(context.growth_pages for context in established)

    def run(self) -> Allocation:
        self._withhold(self.view.withhold_pages)
        waiting = sorted(self.view.requests, key=self._turn)
        while waiting:
            waiting = self._scan(waiting)
        gone = {suspension.context for suspension in self.result.suspensions}
        self.result.waits = [wait for wait in self.result.waits if wait.context not in gone]
        return self.result

    def _withhold(self, pages: int) -> None:
        """Sets `pages` aside, those of the first victims if need be; the last victim keeps its own and goes on."""
        for victim in self.victims.up_to(self.victims.all - 1):
            if self.pages.available >= pages:
                break
            self._record(victim, self._reason(victim, pages, ReasonKind.MEMORY, suspended=True), victim.context)
            self.pages.available += self.pages.release(victim)
        self.pages.available = max(0, self.pages.available - pages)

    def _turn(self, request: RequestView) -> tuple[float, ...]:
        context = self.contexts[request.context]
        return (context.context != self.due_at_once, *self.order.page_rank(context))

    def _scan(self, waiting: list[RequestView]) -> list[RequestView]:
        """One pass in rank order. Returns the requests to be tried again in rank order, once a context has made way.

        Pages of contexts that make way are handed out only by the next pass, so that they go to the first in rank.
        """
        left: list[RequestView] = []
        given_up = 0
        self.first = None
        for request in waiting:
            context = self.contexts[request.context]
            if context.context in self.result.moved:
                continue
            if self._may_pass(context) and self._serve(context, self._need(request)):
                continue
            if context.resident and has_pages(context):
                given_up += self._give_up(context, request.pages)
            else:
                left.append(request)
                self.first = self.first or (context if self._is_overdue(context) else None)
        self.pages.available += given_up
        if given_up:
            return left
        for request in left:
            self._wait(request)
        return []

    def _may_pass(self, context: ContextView) -> bool:
        """Whether it is established, or no newcomer before it waits for the residency of others to end."""
        return self.first is None or _is_established(context)

    def _is_overdue(self, context: ContextView) -> bool:
        return self._is_due(context) and context.waiting_ticks >= self.patience > 0

    def _need(self, request: RequestView) -> int:
        context = self.contexts[request.context]
        return request.pages if context.resident else request.pages + self.pages.missing_pages(context)

    def _serve(self, context: ContextView, pages: int) -> bool:
        """Grants or restores, from available pages or by suspending others; or decides that `context` waits."""
        if pages + self._headroom(context) <= self.pages.available:
            self._take(context, pages)
            return True
        return self._evict_for(context, pages)

    def _headroom(self, context: ContextView) -> int:
        """Pages to leave free beside a newcomer: contexts in the pool grow, and would soon take its pages away again
        (Q6)."""
        if not self.growth or _is_established(context) or self._is_due(context):
            return 0
        return self.growth + context.growth_pages

    def _take(self, context: ContextView, pages: int) -> None:
        if self.leaves_room and not _is_established(context):
            self.growth += context.growth_pages
        self.pages.available -= pages
        self.result.moved.add(context.context)
        if context.resident:
            self.result.grants.append(context.context)
        else:
            self.pages.hold(context)
            self.result.restores.append(context.context)

    def _evict_for(self, context: ContextView, pages: int) -> bool:
        """Suspends victims in order until `pages` fit, or none when all of them would not suffice (Q4.4)."""
        if not context.resident:
            self.pages.hold(context)
        offer = self._gather(context, pages)
        if not context.resident:
            self.pages.release(context)
        if offer.pages >= offer.wanted:
            self._spare(offer)
            self._carry_out(offer, context, pages)
            return True
        for victim in offer.victims:
            self.pages.hold(victim)
        return self._is_patient(context, offer, pages)

    def _is_patient(self, context: ContextView, offer: _Offer, pages: int) -> bool:
        """Whether `context` keeps what it holds because others will yield as soon as they had their row."""
        if not context.resident or offer.pages + offer.protected < pages:
            return False
        self.result.waits.append(Wait(context.context, self._reason(context, pages, ReasonKind.PAGES_COMING)))
        return True

    def _gather(self, requester: ContextView, pages: int) -> _Offer:
        offer = _Offer(self.pages.available, pages + self._headroom(requester))
        due = self._is_due(requester)
        reach = self.victims.all if due else self.victims.reach(lambda victim: self.order.yields(victim, requester))
        if offer.pages + self.victims.most_pages(reach) < offer.wanted:
            return offer
        for victim in self.victims.up_to(reach):
            if offer.pages >= offer.wanted:
                break
            if victim.context == requester.context:
                continue
            if self._is_protected(victim, requester, due):
                offer.protected += victim.private_pages
            else:
                offer.victims.append(victim)
                offer.pages += self.pages.release(victim)
        return offer

    def _spare(self, offer: _Offer) -> None:
        """Spares victims whose pages are not needed: small ones that came before a large one."""
        for victim in reversed(list(offer.victims)):
            pages = self.pages.hold(victim)
            if offer.pages - pages >= offer.wanted:
                offer.pages -= pages
                offer.victims.remove(victim)
            else:
                self.pages.release(victim)

    def _carry_out(self, offer: _Offer, requester: ContextView, pages: int) -> None:
        for victim in offer.victims:
            self._record(victim, self._why(victim, requester, pages), requester.context)
        self.pages.available = offer.pages
        self._take(requester, pages)

    def _why(self, victim: ContextView, requester: ContextView, pages: int) -> Reason:
        if self.order.yields(victim, requester):
            return self.order.why(victim, requester, pages)
        return Reason(
            ReasonKind.YIELDS_TO_DUE,
            victim.bid,
            requester.bid,
            pages=pages,
            waited_ticks=requester.waiting_ticks,
            suspended=True,
        )

    def _is_due(self, context: ContextView) -> bool:
        return context.has_work and (context.waiting_ticks >= self.window or context.context == self.due_at_once)

    def _is_protected(self, victim: ContextView, requester: ContextView, due: bool) -> bool:
        if victim.context in self.result.moved or (victim.fresh and not due):
            return True
        if due and _is_established(victim) and self._is_early(victim, requester):
            return True
        return self._is_due(victim) and not (due and self._waited_longer(requester, victim))

    def _is_early(self, victim: ContextView, requester: ContextView) -> bool:
        """Whether `victim` has been in the pool for too short a time to go for a newcomer."""
        newcomer = not _is_established(requester) and requester.context != self.due_at_once
        return newcomer and victim.stay_rows < residency_rows(self.view.limits, requester.waiting_ticks)

    def _waited_longer(self, requester: ContextView, victim: ContextView) -> bool:
        return requester.context == self.due_at_once or requester.waiting_ticks > victim.waiting_ticks

    def _give_up(self, context: ContextView, pages: int) -> int:
        """Suspends a context for its own request (Q4.5); returns how many pages that frees."""
        reason = self._reason(context, pages, ReasonKind.NO_PAGES, suspended=True)
        self._record(context, reason, context.context)
        return self.pages.release(context)

    def _record(self, victim: ContextView, reason: Reason, beneficiary: int) -> None:
        if self.leaves_room and _is_established(victim):
            self.growth -= victim.growth_pages
        self.result.moved.add(victim.context)
        self.victims.remove(victim)
        self.result.suspensions.append(Suspension(victim.context, beneficiary, reason))

    def _wait(self, request: RequestView) -> None:
        self.result.waits.append(Wait(request.context, self._why_not(self.contexts[request.context], request.pages)))

    def _why_not(self, context: ContextView, pages: int) -> Reason:
        if self.first is not None and self.first is not context and not _is_established(context):
            waited_ticks = self.first.waiting_ticks
            return Reason(ReasonKind.YIELDS_TO_DUE, context.bid, pages=pages, waited_ticks=waited_ticks)
        first = next(self.victims.up_to(self.victims.all), None)
        stays = None if first is None else self.order.why_not(first, context, pages)
        has_room = pages <= self.pages.available
        if stays is not None:
            return stays
        reason = self._reason(context, pages, ReasonKind.HEADROOM if has_room else ReasonKind.NO_PAGES)
        return reason if first is None or has_room else replace(reason, hint=first.hint)

    def _reason(self, context: ContextView, pages: int, kind: ReasonKind, suspended: bool = False) -> Reason:
        return Reason(
            kind,
            context.bid,
            price=self.order.price(),
            pages=pages,
            available_pages=self.pages.available,
            waited_ticks=context.waiting_ticks,
            suspended=suspended,
        )


def _is_established(context: ContextView) -> bool:
    """Whether the context works in the pool: it grows, and is no newcomer."""
    return context.resident and context.has_work and has_pages(context)
