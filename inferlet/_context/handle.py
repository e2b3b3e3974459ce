"""One context of the engine, on the program's side."""

import itertools
from bisect import bisect
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from msgspec.structs import replace

from inferlet._context.bidding import Bidding
from inferlet.model import Model
from pie_mlx.calls import (
    Call,
    ContextState,
    Continuation,
    Forward,
    ForwardReply,
    PageCounters,
    ReleaseContext,
    ReservePages,
    Reuse,
    RollbackMatcher,
    SampledTokens,
)
from pie_mlx.errors import ContextReleasedError, EngineStoppedError, PieError


class PrefetchBuffer:
    """The prefetched tokens of a context's last pass; emptied by any other use of the context.

    `claimed` counts the tokens used since the last pass; the next pass reports it to the engine.
    """

    def __init__(self) -> None:
        self.claimed = 0
        self._left: list[int] = []
        self._next: Forward | None = None

    def clear(self) -> None:
        """Discard the rest, because something else happens to the context."""
        self._left = []

    def fill(self, request: Forward, reply: ForwardReply) -> None:
        """Keep the prefetched tokens of a reply, which passes like `request` would draw next."""
        (drawn,) = reply.results
        if isinstance(drawn, SampledTokens):
            self._next, self._left = _following(request, drawn.tokens[-1]), reply.prefetched[::-1]

    def draw(self, request: Forward) -> int | None:
        """The token that `request` draws, if it is the expected pass; else None."""
        if not self._left or self._next is None or not _is_same(request, self._next):
            return None
        self.claimed += 1
        drawn = self._left.pop()
        self._next = replace(self._next, tokens=[drawn])
        return drawn

    def with_claimed(self, request: Forward) -> Forward:
        """`request`, with the number of claimed tokens, which then starts at 0 again."""
        claimed, self.claimed = self.claimed, 0
        if not claimed:
            return request
        plan = request.continuation or Continuation(asked=False)
        return replace(request, continuation=replace(plan, claimed=claimed))

    def restore_claimed(self, request: Forward) -> None:
        """Count the claimed tokens of a request that did not run again."""
        if request.continuation is not None:
            self.claimed += request.continuation.claimed


def _following(request: Forward, drawn: int) -> Forward:
    """The pass after one that drew a token, as far as that decides what it draws."""
    return replace(_drawing(request), tokens=[drawn], pending=[])


def _drawing(request: Forward) -> Forward:
    """A pass whatever its bid, its drafts and the number of steps after it."""
    return replace(request, continuation=None, speculation=None, horizon=None)


def _is_same(request: Forward, expected: Forward) -> bool:
    """Whether `request` is the expected pass of a program that asks step by step."""
    plan = request.continuation
    return plan is not None and not plan.asked and _drawing(request) == expected


def _keep_nothing() -> None:
    return


@dataclass(slots=True, eq=False)
class InflightPass:
    """A pass that was sent: `promised` are the drained tokens in it, `give_back` returns its other input."""

    message: Forward
    promised: list[int]
    give_back: Callable[[], None]
    ticket: int

    @property
    def size(self) -> int:
        return len(self.message.pending) + len(self.message.tokens)

    @property
    def most(self) -> int:
        """The most tokens it can have added: verified drafts and the tokens of further steps are in KV too."""
        speculation, plan = self.message.speculation, self.message.continuation
        if plan is not None and plan.asked:
            return self.size + plan.tokens
        return self.size if speculation is None else self.size + speculation.limit


def _passes_that_ran(lost: Sequence[InflightPass], grown: int) -> range:
    """The lost passes, in the order they were sent, that made a context longer by `grown` tokens. They take effect in
    that order (P3), so these are the first ones, or successive ones after some that were cancelled while waiting."""
    least = list(itertools.accumulate((flight.size for flight in lost), initial=0))
    most = list(itertools.accumulate((flight.most for flight in lost), initial=0))
    for start, stop in itertools.combinations(range(len(lost) + 1), 2):
        if least[stop] - least[start] <= grown <= most[stop] - most[start]:
            return range(start, stop)
    return range(max(bisect(least, grown) - 1, 0))


@dataclass(slots=True)
class _KnownCounters:
    """The newest page counters, by the order in which the calls were made: replies may be handled out of order."""

    counters: PageCounters
    ticket: int = 0
    issued: int = 0

    def next_ticket(self) -> int:
        self.issued += 1
        return self.issued

    def learn(self, ticket: int, counters: PageCounters) -> None:
        if ticket > self.ticket:
            self.ticket, self.counters = ticket, counters


class ContextHandle:
    """Owns a context of the engine until the last reference to it is gone (P15).

    Passes go out through `run`. Tokens drained by `Context.forward()` are *promised*: they count as computed and travel
    with the next pass, at latest by the next operation (F1). So do those of prefetched steps (G14). A pass
    whose await was cancelled is *lost*: whether it ran is found out from the context's length when it is used again
    (E5).
    """

    def __init__(self, model: Model, state: ContextState) -> None:
        self.model = model
        self.host = model.host
        self.id = state.context
        self.page_size = model.info.page_size
        self.bidding = Bidding(model.host, state.context)
        self._known = _KnownCounters(state.counters)
        self._promised: list[int] = []
        self._flights: list[InflightPass] = []
        self._lost: list[InflightPass] = []
        self._prefetch = PrefetchBuffer()
        self.reuse = Reuse()
        self.released = False

    @property
    def length(self) -> int:
        """Tokens in KV, counting the promised ones (F1)."""
        self.resolve()
        return self._kv_length() + len(self._promised) + sum([len(flight.promised) for flight in self._flights])

    @property
    def known_length(self) -> int:
        """Tokens in KV by the latest counters: for people, asks the engine nothing."""
        return self._kv_length()

    @property
    def next_slot(self) -> int:
        """The slot the next token will take, after everything promised and under way."""
        self.resolve()
        return self._kv_length() + len(self._promised) + sum([flight.size for flight in self._flights])

    @property
    def has_pages(self) -> bool:
        """Whether it holds pages, by the latest counters."""
        return self._known.counters.committed + self._known.counters.working > 0

    @property
    def owes_tokens(self) -> bool:
        """Whether something promised is still to be computed."""
        return bool(self._promised)

    @property
    def is_in_flight(self) -> bool:
        """Whether a pass is in flight."""
        return bool(self._flights)

    def counters(self) -> PageCounters:
        """The page counters, with everything promised computed."""
        self.compute_promised()
        return self._known.counters

    def check(self) -> None:
        """Raises ContextReleasedError after release."""
        if self.released:
            raise ContextReleasedError(
                f"context {self.id}: it was released", hint="create, fork or open another context"
            )

    def promise(self, tokens: list[int]) -> None:
        """Add drained tokens, to be computed with the next pass."""
        self._promised += tokens

    def ask(self, message: Call[PageCounters]) -> PageCounters:
        """Make a call that returns the page counters, after computing everything promised."""
        self.compute_promised()
        return self._ask(message)

    async def run(self, request: Forward, give_back: Callable[[], None] = _keep_nothing) -> ForwardReply:
        """Run a pass. When it does not run, `give_back` is called and the promised tokens stay promised (E3, E5)."""
        self.resolve()
        if len(self._promised) != self._prefetch.claimed:  # something else was drained, and comes before the request
            self._prefetch.clear()
        drawn = self._prefetch.draw(request)
        if drawn is not None:
            return self._prefetched(request, drawn)
        with self._flight(request, give_back) as flight:
            reply = await self.host.submit(flight.message)
        self._learn(flight, reply)
        return reply

    async def run_together(
        self,
        request: Forward,
        give_back: Callable[[], None],
        others: Sequence[tuple["ContextHandle", Callable[[], None]]],
    ) -> ForwardReply:
        """Run a pass of this context and of those that the request names as well. `others` are these, each with what
        gives its input back where the pass does not run."""
        self.resolve()
        with ExitStack() as flights:
            own = flights.enter_context(self._flight(request, give_back))
            beside = [
                flights.enter_context(
                    handle._flight(Forward(one.context, one.tokens, continuation=request.continuation), back)
                )
                for one, (handle, back) in zip(request.others, others, strict=True)
            ]
            reply = await self.host.submit(own.message)
        self._learn(own, reply)
        for (handle, _), flight, counters in zip(others, beside, reply.others, strict=True):
            handle._known.learn(flight.ticket, counters)
        return reply

    def compute_promised(self) -> None:
        """Compute what is promised; blocks for the pass."""
        self.resolve()
        if not self._promised:
            return
        with self._flight(Forward(self.id, horizon=self.bidding.for_raw_pass()), _keep_nothing) as flight:
            reply = self.host.call(flight.message)
        self._learn(flight, reply)

    def resolve(self) -> None:
        """Find out which of the lost passes ran: they made the context longer; the others give their input back."""
        if not self._lost and not self.released:
            return
        self.check()
        expected = self._kv_length() + sum(flight.size for flight in self._flights)
        grown = self._ask(ReservePages(self.id, 0)).sequence_length(self.page_size) - expected
        lost, self._lost = sorted(self._lost, key=lambda flight: flight.ticket), []
        ran = _passes_that_ran(lost, grown)
        for place in ran:
            self._roll_back_matchers(lost[place].message)
        for flight in reversed([*lost[: ran.start], *lost[ran.stop :]]):
            self._return_input(flight)

    def release(self) -> None:
        """Give back the context. Later use raises ContextReleasedError; releasing twice is no error."""
        if self.released:
            return
        self.released = True
        try:
            self.host.call(ReleaseContext(self.id, self._prefetch.claimed))
        except EngineStoppedError:
            return

    def _prefetched(self, request: Forward, drawn: int) -> ForwardReply:
        """The reply to a pass that the engine has computed already."""
        self.promise(request.tokens)
        counters = self._known.counters
        counters = replace(counters, working_tokens=counters.working_tokens + len(self._promised))
        return ForwardReply([SampledTokens([drawn])], counters)

    def _learn(self, flight: InflightPass, reply: ForwardReply) -> None:
        self._known.learn(flight.ticket, reply.counters)
        if reply.reuse is not None:
            self.reuse += reply.reuse
        if reply.prefetched and flight.ticket == self._known.issued:
            self._prefetch.fill(flight.message, reply)

    def _ticket(self) -> int:
        """The ticket of a call. Tokens prefetched before the call are discarded."""
        self._prefetch.clear()
        return self._known.next_ticket()

    def _kv_length(self) -> int:
        return self._known.counters.sequence_length(self.page_size)

    def _ask(self, message: Call[PageCounters]) -> PageCounters:
        ticket = self._ticket()
        counters = self.host.call(message)
        self._known.learn(ticket, counters)
        return counters

    @contextmanager
    def _flight(self, request: Forward, give_back: Callable[[], None]) -> Generator[InflightPass, None, None]:
        promised, self._promised = self._promised, []
        message = self._prefetch.with_claimed(replace(request, pending=promised + request.pending))
        flight = InflightPass(message, promised, give_back, self._ticket())
        self._flights.append(flight)
        try:
            yield flight
        except PieError:
            self._return_input(flight)
            raise
        except BaseException:
            self._lost.append(flight)
            raise
        finally:
            self._flights.remove(flight)

    def _return_input(self, flight: InflightPass) -> None:
        self._promised[:0] = flight.promised
        self._prefetch.restore_claimed(flight.message)
        flight.give_back()

    def _roll_back_matchers(self, message: Forward) -> None:
        """The program never got the token that a lost pass drew, so its matchers go back by one. Posted, because some
        may have been released with the pass."""
        if message.advance_slot is not None:
            for matcher in message.matchers:
                self.host.post(RollbackMatcher(matcher, 1))

    def __del__(self) -> None:
        # Nothing may escape a finalizer: the engine may be gone, the object half built, the interpreter ending.
        try:
            if not self.released:
                self.released = True
                self.host.drop(ReleaseContext(self.id, self._prefetch.claimed))
        except Exception:
            return
