"""Tokens that the engine drew for a stream before its program asked for them."""

from msgspec.structs import replace

from pie_mlx.calls import Continuation, Forward, ForwardReply, SampledTokens


class PrefetchBuffer:
    """What the last pass of a context brought beyond what it was asked for; empty once the context is used otherwise.

    `claimed` counts what was used of it since the last pass; the next pass tells the engine.
    """

    def __init__(self) -> None:
        self.claimed = 0
        self._left: list[int] = []
        self._next: Forward | None = None

    def clear(self) -> None:
        """Something else happens to the context: the rest was never drawn."""
        self._left = []

    def fill(self, request: Forward, reply: ForwardReply) -> None:
        """Behind what `request` drew, passes like it would draw the prefetched tokens of its reply."""
        (drawn,) = reply.results
        if isinstance(drawn, SampledTokens):
            self._next, self._left = _following(request, drawn.tokens[-1]), reply.prefetched[::-1]

    def draw(self, request: Forward) -> int | None:
        """What `request` draws, if it is the pass that was expected."""
        if not self._left or self._next is None or not _is_same(request, self._next):
            return None
        self.claimed += 1
        drawn = self._left.pop()
        self._next = _following(request, drawn)
        return drawn

    def claim(self, request: Forward) -> Forward:
        """`request`, which tells what was claimed."""
        claimed, self.claimed = self.claimed, 0
        if not claimed:
            return request
        plan = request.continuation or Continuation(asked=False)
        return replace(request, continuation=replace(plan, claimed=claimed))

    def give_back(self, request: Forward) -> None:
        """A request did not run: the next one tells what it claimed."""
        if request.continuation is not None:
            self.claimed += request.continuation.claimed


def _following(request: Forward, drawn: int) -> Forward:
    """The pass behind one that drew a token."""
    return replace(request, tokens=[drawn], pending=[])


def _is_same(request: Forward, expected: Forward) -> bool:
    """Whether it is the pass that was expected, whatever is bid for it and however many steps are to follow."""
    plan = request.continuation
    return plan is not None and not plan.asked and _plain(request) == _plain(expected)


def _plain(request: Forward) -> Forward:
    return replace(request, continuation=None, horizon=None)
