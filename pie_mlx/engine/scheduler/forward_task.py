"""A forward pass between its request and its reply, and the steps that may follow it."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

from pie_mlx.calls import AnyResult, AttentionScores, SampledTokens, Sampler
from pie_mlx.engine.kv import WorkingToken
from pie_mlx.engine.model.runner.batch import LogitsRequest, PackedMask, SharedDraw
from pie_mlx.engine.scheduler.live_context import LiveContext
from pie_mlx.engine.speculation.drafting import Window
from pie_mlx.engine.text.grammar import NO_FREEDOM, Freedom, Matcher
from pie_mlx.engine.text.grammar.ahead import compute_masks
from pie_mlx.engine.text.grammar.forced import forced_run
from pie_mlx.engine.text.logit_mask import allowed_next
from pie_mlx.errors import PieError

MOST_STEPS = 32
"""Steps after a pass without a tick between them. Then come events, and the bid is renewed (B4)."""

FEWEST_FORCED = 2
"""Forced tokens for which further steps end and a pass begins with them: that takes as long as two steps, as the one
that is built already is dropped."""


@dataclass(slots=True, eq=False)
class PassContinuation:
    """Up to `count` steps after a pass of `context`, none of them after one of `stop_tokens`. The whole text wants
    `wanted` more tokens.

    Each draws as the pass does, under its `matchers` and the `fixed` mask. `walked` are forks of the matchers, which
    the device's thread advances. `kept` counts the further tokens in KV once the pass is over; `extra_pages` were
    reserved for them alone. If the steps were not `asked` for, their tokens are prefetched, and none is kept. `named`
    is how often the context was named when the pass began: a later call comes before unasked steps (P3). If it `jumps`,
    it ends where its grammars force several tokens, which the next pass then takes as inputs (G16); where `foresees`
    is true of a grammar, it ends so that the next pass can draft.
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
    jumps: bool = False
    foresees: Callable[[Matcher], bool] | None = None

    @staticmethod
    def of(context: LiveContext, tokens: int, stop_tokens: frozenset[int], *, asked: bool = True) -> "PassContinuation":
        """The continuation of a pass after which `tokens` more are wanted."""
        return PassContinuation(context, max(0, min(tokens, MOST_STEPS)), tokens, stop_tokens, context.named, asked)

    @property
    def is_current(self) -> bool:
        """Whether no other call has named the context."""
        return self.context.named == self.named

    def restrict(self, matchers: Sequence[Matcher], fixed: PackedMask | None, free: Freedom) -> None:
        """Draw under these masks; for the first tokens under `fixed` alone, as long as the matchers allow
        everything."""
        self.matchers, self.fixed = matchers, fixed
        if free.tokens:
            self.stop_tokens |= free.ends
            self.trim(free.tokens - 1)

    def skip(self, tokens: int) -> None:
        """The pass itself brings so many of the wanted tokens."""
        self.wanted -= tokens
        self.trim(self.wanted)

    def trim(self, count: int) -> None:
        """Take no more than `count` further steps."""
        self.count = max(0, min(self.count, count))

    def committed(self, last: WorkingToken, results: Sequence[AnyResult]) -> list[WorkingToken]:
        """The tokens after the input `last` that are in KV: all that were drawn, except the last one."""
        (drawn,) = results
        tokens = drawn.tokens[:-1] if self.asked and isinstance(drawn, SampledTokens) else []
        self.kept = len(tokens)
        return [last._replace(token=token, position=last.position + 1 + place) for place, token in enumerate(tokens)]


def freedom_of(matchers: Sequence[Matcher]) -> Freedom:
    """For how many tokens none of the matchers forbids anything."""
    if not matchers:
        return NO_FREEDOM
    found = [matcher.freedom for matcher in matchers]
    return Freedom(min(free.tokens for free in found), frozenset().union(*(free.ends for free in found)))


def advance_matchers(matchers: Sequence[Matcher], tokens: Sequence[int], continuation: PassContinuation | None) -> None:
    """Advance the matchers of a pass by what was drawn; a fork that went as far already is adopted instead."""
    for matcher, fork in zip_longest(matchers, () if continuation is None else continuation.walked):
        if fork is None or not matcher.follow(fork, len(tokens)):
            matcher.accept(tokens)


class BatchContinuation:
    """The further steps of a batch, a StopCondition: its passes go on together while each can and `is_wanted`, until it
    `pauses`.

    The device's thread walks the grammars on forks: the matchers themselves stay with the engine's loop, where their
    programs may ask for them at any time.
    """

    def __init__(
        self, continuations: Sequence[PassContinuation], is_wanted: Callable[[], bool], pauses: Callable[[], bool]
    ) -> None:
        self._continuations, self._is_wanted, self.pauses = continuations, is_wanted, pauses
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
        return not stopped and self._is_wanted() and not self._is_better_begun_anew()

    def masks(self) -> list[PackedMask | None]:
        """What each pass may draw next. Raises EmptyMaskError and GrammarError."""
        compute_masks([matcher for each in self._continuations for matcher in each.walked])
        return [allowed_next(each.walked, each.fixed) for each in self._continuations]

    def _is_better_begun_anew(self) -> bool:
        """Whether a new pass gains more than another step: a grammar forces several tokens, at most with a choice of
        blanks between them."""
        jumping = [each for each in self._continuations if each.jumps]
        guessing = [(each.foresees, each.walked) for each in self._continuations if each.foresees is not None]
        if not jumping and not guessing:
            return False
        compute_masks([matcher for each in self._continuations for matcher in each.walked])
        runs = [forced_run(each.walked, each.fixed, each.stop_tokens, FEWEST_FORCED) for each in jumping]
        if any([len(run.tokens) >= FEWEST_FORCED for run in runs]):
            return True
        return any([is_near(matcher) for is_near, walked in guessing for matcher in walked])


@dataclass(slots=True, eq=False)
class ForwardTask:
    """Tokens of one context that one or more ticks compute.

    `inputs` are what has to be computed (cache hits are attached already); `reads` index them. `cursor` counts the
    inputs already in KV. `commits`: full pages are committed when all are (P10). A `replay` pass rebuilds KV that was
    lost: it writes slots the context already counts, from `first_slot` on, and reads nothing (R6); only those in pages
    of the context that are `written`, if not None. `in_batch` while
    some of it is on the device. The last inputs may be drafts, those of `window`; before them are `forced` ones, which
    belong to the text, as the grammar left no choice. `continuation` has the steps that may
    follow without the program. `abandoned` when no program waits for what is drawn. `followers` are the passes of the
    other contexts of its gang, each of which `follows` it: they run together, whole.
    """

    context: LiveContext
    inputs: Sequence[WorkingToken]
    reads: Sequence[LogitsRequest]
    arrival: int
    done: "asyncio.Future[None]"
    commits: bool = False
    replay: bool = False
    first_slot: int = 0
    written: frozenset[int] | None = None
    cursor: int = 0
    in_batch: bool = False
    window: Window | None = None
    continuation: PassContinuation | None = None
    forced: int = 0
    abandoned: bool = False
    followers: "Sequence[ForwardTask]" = ()
    follows: bool = False
    results: dict[int, AnyResult] = field(default_factory=dict[int, AnyResult])
    draws_next: bool = field(init=False)
    """Whether it draws exactly one token, at its last input, and reads no attention, which early steps do not know."""
    scored: bool = field(init=False)
    """Whether the attention of some inputs is read."""

    def __post_init__(self) -> None:
        self.scored = any([isinstance(read.read, AttentionScores) for read in self.reads])
        drawn = [(read.index, read.read.draws) for read in self.reads if isinstance(read.read, Sampler | SharedDraw)]
        self.draws_next = self.commits and not (self.replay or self.scored) and drawn == [(len(self.inputs) - 1, 1)]

    @property
    def remaining(self) -> int:
        return len(self.inputs) - self.cursor

    @property
    def drafts(self) -> int:
        """How many of the inputs are drafts."""
        return 0 if self.window is None else len(self.window.tree)

    def added_tokens(self, count: int) -> tuple[int, int]:
        """How many tokens of text its latest `count` inputs have made, once they are computed: the forced ones, the
        right drafts, and the drawn one if it read no prompt; and how many of them are prompt, or were computed
        again."""
        plain = len(self.inputs) - self.drafts - self.forced
        # More to compute than the latest token of a text, and what was appended to it.
        reads_prompt = self.replay or plain > 1
        prompt = max(0, min(self.cursor, plain) - self.cursor + count) if reads_prompt else 0
        if self.cursor < len(self.inputs) or self.replay:
            return 0, prompt
        judged = self.window and self.window.verification
        return (not reads_prompt) + self.forced + (judged.accepted if judged else 0), prompt

    @property
    def continues(self) -> bool:
        """Whether further steps of the pass are still wanted."""
        return self.continuation is not None and self.continuation.is_current and not self.abandoned

    @property
    def is_unowned(self) -> bool:
        """Whether the rest is of no use: the call was cancelled, and its context released."""
        return self.abandoned and self.context.released and not self.is_over

    @property
    def is_over(self) -> bool:
        """Nothing remains, or no call waits for it any more."""
        return self.remaining == 0 or self.done.done()

    @property
    def failure(self) -> BaseException | None:
        """Why it is over without success."""
        return self.done.exception() if self.done.done() and not self.done.cancelled() else None

    @property
    def has_adapter(self) -> bool:
        """Whether any input is computed with an adapter. The last one tells: only what was pending before has none."""
        return self.inputs[-1].adapter != 0

    def runs_whole(self, count: int) -> bool:
        """Whether the next `count` inputs are all there are."""
        return not self.cursor and count == len(self.inputs)

    def reads_within(self, count: int) -> list[tuple[int, LogitsRequest]]:
        """The reads of the next `count` inputs, with their place among all reads."""
        end = self.cursor + count
        return [(place, read) for place, read in enumerate(self.reads) if self.cursor <= read.index < end]

    def record(self, count: int, values: Sequence[AnyResult]) -> None:
        """The next `count` inputs are computed; `values` is what was read from them, in the order of the reads."""
        places = range(len(self.reads)) if self.runs_whole(count) else [place for place, _ in self.reads_within(count)]
        self.results.update(zip(places, values, strict=True))
        self.cursor += count

    def rejected(self) -> int:
        """How many of the last inputs leave KV, now that all results are there."""
        if self.window is None:
            return 0
        drawn = [result.tokens[0] for result in self.in_order() if isinstance(result, SampledTokens)]
        return self.window.judge(drawn, wanted=not self.abandoned)

    def finish(self) -> None:
        if not self.done.done():
            self.done.set_result(None)

    def fail(self, error: PieError) -> None:
        if not self.done.done():
            self.done.set_exception(error)

    def in_order(self) -> list[AnyResult]:
        """The results as the reads were attached (F11)."""
        return [self.results[place] for place in range(len(self.reads))]


class Completion(asyncio.Future[None]):
    """Done when its pass is. A cancellation is accepted until the first tokens are in a batch (E5).

    The pass completes after that, and so does the wait: a shield would cost two turns of the loop per row of a batch.
    If the context is released too, what is not in the batch does not run any more.
    An accepted cancellation removes the pass from `passes` at once, as the next batch may be planned before the task
    ends.
    """

    waiting: ForwardTask

    def __init__(self, passes: dict[int, ForwardTask]) -> None:
        super().__init__()
        self._passes = passes

    def cancel(self, msg: Any | None = None) -> bool:
        waiting = self.waiting
        waiting.abandoned = True
        if waiting.in_batch or (waiting.cursor and (self.done() or not waiting.context.released)):
            return True
        if self._passes.get(waiting.context.id) is waiting:
            del self._passes[waiting.context.id]
        return super().cancel(msg)


class Timer:
    """Calls `attempt` every `seconds` until it answers True or the timer is cancelled. On the loop that made it."""

    def __init__(self, seconds: float, attempt: Callable[[], bool]) -> None:
        self._seconds = seconds
        self._attempt = attempt
        self._start()

    def cancel(self) -> None:
        """Idempotent."""
        self._handle.cancel()

    def _start(self) -> None:
        self._handle = asyncio.get_running_loop().call_later(self._seconds, self._fire)

    def _fire(self) -> None:
        if not self._attempt():
            self._start()
