"""Draws tokens for a stream before its program asks for them, and counts those that it takes to its context."""

from itertools import takewhile

from pie_mlx.calls import AnyResult, Forward, SampledTokens
from pie_mlx.engine.course import Course
from pie_mlx.engine.foretold import Foretold
from pie_mlx.engine.forward_request import ForwardRequest
from pie_mlx.engine.kv import PageStore
from pie_mlx.engine.live_context import LiveContext
from pie_mlx.engine.multi_step import next_sampler
from pie_mlx.errors import InvalidArgumentError

MOST_TOKENS = 16
"""What each pass takes besides its steps is spread over as many by then."""

FEWEST_TOKENS = 3
"""For fewer, one step that runs ahead of its program has to do."""

LONGEST_SECONDS = 32e-3
"""How much later the first of these tokens may come for the sake of the others: two frames of a screen."""


def check_taken(context: LiveContext, taken: int) -> None:
    """Raises InvalidArgumentError for a program that took more than it was told, by its last pass or, where a pass was
    given up that would have told so, by one before."""
    if not 0 <= taken <= context.untaken:
        raise InvalidArgumentError(f"forward: {taken} tokens taken ahead", hint="take only what a reply brought")


def course_ahead(context: LiveContext, call: Forward) -> Course | None:
    """The steps that may be taken behind a pass before they are asked for; None where a step might be another one."""
    if call.lookahead is None or call.matchers or call.adapter or call.zo_seed:
        return None
    sampler = next_sampler(call)
    if sampler is None or sampler.scores:
        return None
    return Course.of(context, call.lookahead.tokens, frozenset(call.lookahead.stop_tokens), tentative=True)


def limit_ahead(context: LiveContext, call: Forward, course: Course, step_seconds: float | None) -> None:
    """Take no more steps than pay, each of which takes `step_seconds` lately."""
    if course.tentative:
        in_time = int(LONGEST_SECONDS / step_seconds) if step_seconds else 0
        course.trim(_limit(context, call) if in_time >= FEWEST_TOKENS else 0)
        course.trim(in_time)


def _limit(context: LiveContext, call: Forward) -> int:
    """Twice as many steps as the last time, none where the program left some of them.

    The first pass of a text, which brings its prompt, is answered at once.
    """
    before = context.foretold
    if before is None or call.taken < before.drawn:
        return 0
    return min(2 * before.limit or 1, MOST_TOKENS)


def room(store: PageStore, context: int, inputs: int) -> int:
    """For how many steps behind `inputs` of a pass there is room on the last page."""
    counters = store.counters(context)
    return counters.working * store.page_size - counters.working_tokens - inputs


def tell_ahead(context: LiveContext, call: Forward, course: Course | None, results: list[AnyResult]) -> list[int]:
    """What was drawn ahead, taken out of the results; nothing where another call waits, which comes before it (P3).

    Counts what was taken before.
    """
    ahead, rows = list[int](), list[int]()
    if course is not None and course.tentative and isinstance(drawn := results[0], SampledTokens):
        results[0] = SampledTokens(drawn.tokens[:1])
        if course.is_wanted:
            ahead, rows = drawn.tokens[1:], drawn.tokens[:-1]
    context.sampled += call.taken
    context.untaken += len(ahead) - call.taken
    if call.lookahead is None:
        context.foretold = None
    else:
        limit = _limit(context, call)
        context.foretold = Foretold(limit, len(ahead), rows, context.named, context.suspensions)
    return ahead


def claim(store: PageStore, context: LiveContext, request: ForwardRequest) -> int:
    """Count the first inputs of a pass to the context, as far as their KV is there already; how many.

    Never all of them, so that the pass is one like any other.
    """
    told = context.foretold
    if told is None or context.named != told.named + 1 or context.suspensions != told.suspensions:
        return 0
    pending = request.inputs[: min(request.own_start, len(request.inputs) - 1)]
    pairs = takewhile(lambda pair: pair[0].token == pair[1], zip(pending, told.rows, strict=False))
    count = sum(1 for _ in pairs)
    store.append(context.id, pending[:count])
    return count
