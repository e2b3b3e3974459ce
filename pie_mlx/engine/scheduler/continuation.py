"""How far a pass continues without its program: each further step computes what the one before it drew."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from pie_mlx.calls import AnyResult, SampledTokens
from pie_mlx.engine.kv import WorkingToken
from pie_mlx.engine.model.runner.batch import PackedMask
from pie_mlx.engine.scheduler.live_context import LiveContext
from pie_mlx.engine.text.grammar import Matcher
from pie_mlx.engine.text.grammar.ahead import compute_masks
from pie_mlx.engine.text.logit_mask import allowed_next

MOST_STEPS = 32
"""Steps behind a pass without a tick between them; then events tell of them, and the bid is renewed (B4)."""


@dataclass(slots=True, eq=False)
class FurtherSteps:
    """Up to `count` further steps of a pass of `context`, of `wanted` before its text ends, and none behind one of
    `stop_tokens`.

    Each draws as the pass does, under its `matchers` and the `fixed` mask. `walked` are the forks of the matchers that
    the device's thread moves on. `kept` counts the further tokens in KV once the pass is over; `extra_pages` were
    reserved for them alone. One that was not `asked` for keeps none of them: they are prefetched. `named` is how often
    the context was named when the pass began: a later call comes before steps that its program has not asked for (P3).
    """

    context: LiveContext
    count: int
    wanted: int
    stop_tokens: frozenset[int]
    named: int
    asked: bool = True
    matchers: Sequence[Matcher] = ()
    fixed: PackedMask | None = None
    walked: Sequence[Matcher] = ()
    kept: int = 0
    extra_pages: int = 0

    @staticmethod
    def of(context: LiveContext, tokens: int, stop_tokens: frozenset[int], *, asked: bool = True) -> "FurtherSteps":
        """That of a pass behind which `tokens` more are wanted."""
        return FurtherSteps(context, max(0, min(tokens, MOST_STEPS)), tokens, stop_tokens, context.named, asked)

    @property
    def ends_text(self) -> bool:
        """Whether nothing is left to draw behind it."""
        return self.count >= self.wanted

    @property
    def is_current(self) -> bool:
        """Whether no other call has named the context."""
        return self.context.named == self.named

    def trim(self, count: int) -> None:
        """Take no more than `count` further steps."""
        self.count = max(0, min(self.count, count))

    def committed(self, last: WorkingToken, results: Sequence[AnyResult]) -> list[WorkingToken]:
        """The tokens behind the input `last` that are in KV: all that were drawn but the last one."""
        (drawn,) = results
        tokens = drawn.tokens[:-1] if self.asked and isinstance(drawn, SampledTokens) else []
        self.kept = len(tokens)
        return [last._replace(token=token, position=last.position + 1 + place) for place, token in enumerate(tokens)]


def advance_matchers(matchers: Sequence[Matcher], tokens: Sequence[int], continuation: FurtherSteps | None) -> None:
    """Move the matchers of a pass behind what was drawn: to where their forks are, if those went as far."""
    for matcher, fork in zip_longest(matchers, () if continuation is None else continuation.walked):
        if fork is None or not matcher.follow(fork, len(tokens)):
            matcher.accept(tokens)


class MultiStepDecode:
    """The continuations of a batch, whose passes go on together as long as each can and `is_wanted`: a StopCondition.

    The device's thread walks the grammars on forks: the matchers themselves stay with the engine's loop, where their
    programs may ask for them at any time.
    """

    def __init__(self, continuations: Sequence[FurtherSteps], is_wanted: Callable[[], bool]) -> None:
        self._continuations, self._is_wanted = continuations, is_wanted
        for each in continuations:
            each.walked = [matcher.fork() for matcher in each.matchers]

    def advance(self, drawn: Sequence[int]) -> bool:
        """Every pass drew a token; whether each may draw another (G13). Raises GrammarError."""
        stopped = False
        for each, token in zip(self._continuations, drawn, strict=True):
            for matcher in each.walked:
                matcher.accept([token])
                stopped = stopped or matcher.is_terminated
            stopped = stopped or token in each.stop_tokens
        return not stopped and self._is_wanted()

    def masks(self) -> list[PackedMask | None]:
        """What each pass may draw next. Raises EmptyMaskError and GrammarError."""
        compute_masks([matcher for each in self._continuations for matcher in each.walked])
        return [allowed_next(each.walked, each.fixed) for each in self._continuations]
