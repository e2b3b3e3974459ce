"""Tokens that the engine drew for a stream before its program asked for them."""

from msgspec.structs import replace

from pie_mlx.calls import Continuation, Forward, ForwardReply, SampledTokens


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
    """The pass after one that drew a token, whatever its bid and the number of steps after it."""
    return replace(request, tokens=[drawn], pending=[], continuation=None, horizon=None)


def _is_same(request: Forward, expected: Forward) -> bool:
    """Whether `request` is the expected pass of a program that asks step by step."""
    plan = request.continuation
    return plan is not None and not plan.asked and replace(request, continuation=None, horizon=None) == expected
