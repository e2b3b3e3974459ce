"""How far a pass continues without its program: each further step computes what the one before it drew."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import takewhile, zip_longest

from pie_mlx.calls import AnyResult, Forward, SampledTokens, Sampler
from pie_mlx.engine.forward_request import ForwardRequest
from pie_mlx.engine.kv import PageStore, WorkingToken
from pie_mlx.engine.live_context import LiveContext, Prefetched
from pie_mlx.engine.logit_mask import allowed_next
from pie_mlx.engine.model.batch import PackedMask
from pie_mlx.engine.text.grammar import Matcher
from pie_mlx.engine.text.grammar.ahead import compute_masks
from pie_mlx.errors import InvalidArgumentError

MOST_STEPS = 32
"""Steps behind a pass without a tick between them; then events tell of them, and the bid is renewed (B4)."""

MOST_PREFETCHED = 16
"""What each pass takes besides its steps is spread over as many by then."""

FEWEST_PREFETCHED = 3
"""For fewer, the one step that is in flight anyway has to do."""

LONGEST_SECONDS = 32e-3
"""How much later the first token may come for the sake of prefetched ones: two frames of a screen."""


@dataclass(slots=True, eq=False)
class Continuation:
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
    def of(context: LiveContext, tokens: int, stop_tokens: frozenset[int], *, asked: bool = True) -> "Continuation":
        """That of a pass behind which `tokens` more are wanted."""
        return Continuation(context, max(0, min(tokens, MOST_STEPS)), tokens, stop_tokens, context.named, asked)

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


def advance_matchers(matchers: Sequence[Matcher], tokens: Sequence[int], continuation: Continuation | None) -> None:
    """Move the matchers of a pass behind what was drawn: to where their forks are, if those went as far."""
    for matcher, fork in zip_longest(matchers, () if continuation is None else continuation.walked):
        if fork is None or not matcher.follow(fork, len(tokens)):
            matcher.accept(tokens)


class BatchContinuation:
    """The continuations of a batch, whose passes go on together as long as each can and `is_wanted`: a StopCondition.

    The device's thread walks the grammars on forks: the matchers themselves stay with the engine's loop, where their
    programs may ask for them at any time.
    """

    def __init__(self, continuations: Sequence[Continuation], is_wanted: Callable[[], bool]) -> None:
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


def next_sampler(call: Forward) -> Sampler | None:
    """The sampler that draws each next token, if steps like this one can follow it."""
    drafts = None if call.speculation is None else call.speculation.drafts
    if len(call.slots) == 1 and call.positions is None and call.attention_masks is None and drafts is None:
        slot = call.slots[0]
        if isinstance(slot.read, Sampler) and slot.read.draws == 1 and slot.index == len(call.tokens) - 1:
            return slot.read
    return None


# Tokens that are prefetched: drawn behind a pass, though its program asked for one.


def claimed_tokens(context: LiveContext, call: Forward) -> int:
    """How many prefetched tokens a program has used since its last pass. Raises InvalidArgumentError for more than it
    received."""
    claimed = 0 if call.continuation is None else call.continuation.claimed
    check_claimed(context, claimed)
    return claimed


def check_claimed(context: LiveContext, claimed: int) -> None:
    """Raises InvalidArgumentError for more prefetched tokens than the program received."""
    if not 0 <= claimed <= context.unclaimed:
        raise InvalidArgumentError(
            f"forward: {claimed} prefetched tokens claimed of {context.unclaimed}",
            hint="claim only what a reply brought",
        )


def prefetching(context: LiveContext, call: Forward) -> Continuation | None:
    """The steps that may be taken behind a pass before they are asked for; None where a step might be another one."""
    plan, sampler = call.continuation, next_sampler(call)
    if (
        plan is None
        or not plan.tokens
        or sampler is None
        or sampler.scores
        or call.matchers
        or call.adapter
        or call.zo_seed
    ):
        return None
    return Continuation.of(context, plan.tokens, frozenset(plan.stop_tokens), asked=False)


def limit_prefetching(continuation: Continuation, claimed: int, step_seconds: float | None) -> None:
    """Prefetch no more than pays where a step takes `step_seconds` lately, and the program used `claimed`."""
    in_time = int(LONGEST_SECONDS / step_seconds) if step_seconds else 0
    most = min(in_time, _prefetch_limit(continuation.context, claimed)) if in_time >= FEWEST_PREFETCHED else 0
    continuation.trim(most)


def _prefetch_limit(context: LiveContext, claimed: int) -> int:
    """Twice as many as the last time, none where the program left some of them.

    The first pass of a text, which brings its prompt, is answered at once.
    """
    before = context.prefetched
    if before is None or claimed < before.drawn:
        return 0
    return min(2 * before.limit or 1, MOST_PREFETCHED)


def split_prefetched(
    context: LiveContext, call: Forward, continuation: Continuation | None, results: list[AnyResult]
) -> list[int]:
    """The prefetched tokens, taken out of `results`; none where another call waits, which comes before them (P3).

    Counts those that were claimed before.
    """
    ahead, rows, claimed = list[int](), list[int](), claimed_tokens(context, call)
    if continuation is not None and not continuation.asked and isinstance(drawn := results[0], SampledTokens):
        results[0] = SampledTokens(drawn.tokens[:1])
        if continuation.is_current:
            ahead, rows = drawn.tokens[1:], drawn.tokens[:-1]
    context.sampled += claimed
    context.unclaimed += len(ahead) - claimed
    plan = call.continuation
    if plan is None or plan.asked or not plan.tokens:
        context.prefetched = None
    else:
        limit = _prefetch_limit(context, claimed)
        context.prefetched = Prefetched(limit, len(ahead), rows, context.named, context.suspensions)
    return ahead


def count_in(store: PageStore, context: LiveContext, request: ForwardRequest) -> int:
    """Count the first inputs of a pass to the context, as far as their KV is prefetched; how many.

    Never all of them, so that the pass is one like any other.
    """
    known = context.prefetched
    if known is None or context.named != known.named + 1 or context.suspensions != known.suspensions:
        return 0
    pending = request.inputs[: min(request.own_start, len(request.inputs) - 1)]
    pairs = takewhile(lambda pair: pair[0].token == pair[1], zip(pending, known.rows, strict=False))
    count = sum(1 for _ in pairs)
    store.append(context.id, pending[:count])
    return count
