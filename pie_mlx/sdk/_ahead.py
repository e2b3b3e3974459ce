"""Tokens that the engine drew for a stream before its program asked for them."""

from msgspec.structs import replace

from pie_mlx.calls import Forward, ForwardReply, SampledTokens


class DrawnAhead:
    """What the last pass of a context brought beyond what it was asked for; empty once the context is used otherwise.

    `taken` counts what was used of it since the last pass, which the engine has to be told with the next.
    """

    def __init__(self) -> None:
        self.taken = 0
        self._left: list[int] = []
        self._request: Forward | None = None

    def clear(self) -> None:
        """Something else happens to the context: the rest was never drawn."""
        self._left = []

    def remember(self, request: Forward, reply: ForwardReply) -> None:
        """Behind what `request` drew, the further tokens of its reply would be drawn by passes like it."""
        (drawn,) = reply.results
        if isinstance(drawn, SampledTokens):
            self._request, self._left = _following(request, drawn.tokens[-1]), reply.ahead[::-1]

    def hand_over(self) -> int:
        """How many were taken, which the next pass tells."""
        taken, self.taken = self.taken, 0
        return taken

    def take(self, request: Forward) -> int | None:
        """What `request` draws, if it is the pass that was foreseen."""
        if not self._left or self._request is None or not _is_same(request, self._request):
            return None
        self.taken += 1
        drawn = self._left.pop()
        self._request = _following(request, drawn)
        return drawn


def _following(request: Forward, drawn: int) -> Forward:
    """The pass behind one that drew a token."""
    return replace(request, tokens=[drawn], pending=[], taken=0)


def _is_same(request: Forward, foreseen: Forward) -> bool:
    """Whether it is the pass that was foreseen, whatever is bid for it and however many are to follow."""
    same = replace(request, lookahead=foreseen.lookahead, horizon=foreseen.horizon)
    return request.lookahead is not None and same == foreseen
