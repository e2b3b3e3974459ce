"""How far a pass goes on by itself, on the device."""

from collections.abc import Sequence
from dataclasses import dataclass

from pie_mlx.calls import AnyResult, SampledTokens
from pie_mlx.engine.kv import WorkingToken
from pie_mlx.engine.live_context import LiveContext

MOST_STEPS = 16
"""Steps that follow a pass at once; then whoever watches hears of them, and the bid is renewed (B4)."""


@dataclass(slots=True, eq=False)
class Course:
    """Up to `count` further tokens of a pass of `context`, none behind one of `stop_tokens`.

    Each is drawn as the pass draws its own, from what was drawn before it. `named` is how often the context was named
    when the pass began: a later call comes before what nobody has asked for (P3). `kept` counts the drawn tokens that
    are in KV, once the pass is over; `extra_pages` were reserved for them alone.
    """

    context: LiveContext
    count: int
    stop_tokens: frozenset[int]
    named: int
    kept: int = 0
    extra_pages: int = 0

    @staticmethod
    def of(context: LiveContext, tokens: int, stop_tokens: frozenset[int]) -> "Course":
        """The course of a pass behind which `tokens` more are wanted."""
        return Course(context, min(tokens, MOST_STEPS), stop_tokens, context.named)

    @property
    def is_wanted(self) -> bool:
        """Whether nothing has come up that goes before."""
        return self.context.named == self.named

    def trim(self, count: int) -> None:
        """Draw no more than `count` further tokens."""
        self.count = min(self.count, count)

    def take(self, last: WorkingToken, results: Sequence[AnyResult]) -> list[WorkingToken]:
        """The tokens that were drawn behind the input `last` and are in KV: all but the last one."""
        (drawn,) = results
        tokens = drawn.tokens[:-1] if isinstance(drawn, SampledTokens) else []
        self.kept = len(tokens)
        return [last._replace(token=token, position=last.position + 1 + place) for place, token in enumerate(tokens)]
