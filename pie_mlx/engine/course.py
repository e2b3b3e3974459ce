"""How far passes go on by themselves, on the device."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from pie_mlx.calls import AnyResult, SampledTokens
from pie_mlx.engine.kv import WorkingToken
from pie_mlx.engine.live_context import LiveContext
from pie_mlx.engine.logit_mask import allowed_next
from pie_mlx.engine.model.batch import PackedMask
from pie_mlx.engine.text.grammar import Matcher
from pie_mlx.engine.text.grammar.ahead import compute_masks

MOST_STEPS = 32
"""Steps that follow a pass at once; then whoever watches hears of them, and the bid is renewed (B4)."""


@dataclass(slots=True, eq=False)
class Course:
    """Up to `count` further tokens of a pass of `context`, of `wanted` before its text ends, and none behind one of
    `stop_tokens`.

    Each is drawn as the pass draws its own, from what was drawn before it, under its `matchers` and the `fixed` mask.
    `named` is how often the context was named when the pass began: a later call comes before what nobody has asked for
    (P3). `walked` are the forks of the matchers that the device moves on. `kept` counts the tokens that are in KV, once
    the pass is over; `extra_pages` were reserved for them alone. Of a `tentative` course none is: whether they are
    wanted is not known yet.
    """

    context: LiveContext
    count: int
    wanted: int
    stop_tokens: frozenset[int]
    named: int
    matchers: Sequence[Matcher] = ()
    fixed: PackedMask | None = None
    walked: Sequence[Matcher] = ()
    kept: int = 0
    extra_pages: int = 0
    tentative: bool = False

    @staticmethod
    def of(context: LiveContext, tokens: int, stop_tokens: frozenset[int], *, tentative: bool = False) -> "Course":
        """The course of a pass behind which `tokens` more are wanted."""
        count = max(0, min(tokens, MOST_STEPS))
        return Course(context, count, tokens, stop_tokens, context.named, tentative=tentative)

    @property
    def ends_text(self) -> bool:
        """Whether nothing is left to draw behind it."""
        return self.count >= self.wanted

    @property
    def is_wanted(self) -> bool:
        """Whether nothing has come up that goes before."""
        return self.context.named == self.named

    def trim(self, count: int) -> None:
        """Draw no more than `count` further tokens."""
        self.count = min(self.count, count)

    def take(self, last: WorkingToken, results: Sequence[AnyResult]) -> list[WorkingToken]:
        """The tokens that were drawn behind the input `last` and are in KV: all but the last one."""
        if self.tentative:
            return []
        (drawn,) = results
        tokens = drawn.tokens[:-1] if isinstance(drawn, SampledTokens) else []
        self.kept = len(tokens)
        return [last._replace(token=token, position=last.position + 1 + place) for place, token in enumerate(tokens)]


def feed(matchers: Sequence[Matcher], tokens: Sequence[int], course: Course | None) -> None:
    """Move the matchers of a pass behind what was drawn: to where the forks of its course are, if they went as far."""
    for matcher, fork in zip_longest(matchers, () if course is None else course.walked):
        if fork is None or not matcher.follow(fork, len(tokens)):
            matcher.accept(tokens)


class Courses:
    """The courses of a batch, whose passes go on together as long as each can and `is_wanted`; see `Following`.

    The threads of the device walk the grammars on copies: the matchers themselves stay with the engine's loop, where
    their programs may ask for them at any time.
    """

    def __init__(self, courses: Sequence[Course], is_wanted: Callable[[], bool]) -> None:
        self._courses, self._is_wanted = courses, is_wanted
        for course in courses:
            course.walked = [matcher.fork() for matcher in course.matchers]

    def advance(self, drawn: Sequence[int]) -> bool:
        """Every pass drew a token; whether each may draw another (G13). Raises GrammarError."""
        stopped = False
        for course, token in zip(self._courses, drawn, strict=True):
            for matcher in course.walked:
                matcher.accept([token])
                stopped = stopped or matcher.is_terminated
            stopped = stopped or token in course.stop_tokens
        return not stopped and self._is_wanted()

    def masks(self) -> list[PackedMask | None]:
        """What each pass may draw next. Raises EmptyMaskError and GrammarError."""
        compute_masks([matcher for course in self._courses for matcher in course.walked])
        return [allowed_next(course.walked, course.fixed) for course in self._courses]
