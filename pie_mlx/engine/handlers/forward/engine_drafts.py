"""Drafts that the engine makes for a pass: what followed the last tokens before, what a grammar leaves no choice about,
or what the model's own draft head or a draft model writes. The one that has earned most lately guesses."""

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from pie_mlx.calls import DraftSourceName, Sampler
from pie_mlx.engine.model.runner.batch import LogitsRequest, PackedMask
from pie_mlx.engine.model.runner.hidden_trail import HiddenTrail
from pie_mlx.engine.scheduler.live_context import LiveContext
from pie_mlx.engine.services import Services
from pie_mlx.engine.speculation.draft_head import DraftHeadRunner, HeadGuess
from pie_mlx.engine.speculation.draft_model import DraftModelRunner, Guess, Guesses
from pie_mlx.engine.speculation.drafting import (
    FIRST_LENGTH,
    LONGEST,
    MOST_GUESSES,
    SHORTEST,
    SIZES,
    Allowance,
    DraftRow,
    HeadPace,
    NgramDrafter,
    Pace,
)
from pie_mlx.engine.text.grammar import Matcher
from pie_mlx.engine.text.grammar.foresight import RECENT
from pie_mlx.errors import InvalidArgumentError

HEAD_TRIES = 2
"""Guesses of a draft head that does not pay, to learn whether it does now."""

PLAIN_STEPS = 4
"""Steps of a text without guesses, to learn what they take: several, as plain ones follow one another."""

READ_FOR_STEPS = 16
"""Steps that share the price of what a draft head must read before it can guess: a short text has not many more."""


@dataclass(frozen=True, slots=True)
class DraftRequest:
    """Asks for at most `most` guesses at what follows `inputs`, for a pass that draws `drawn`, with `sampler`, at the
    last of them.

    `first` is the place after the last input, `fixed` the mask of every row; nothing is guessed after a stop token.
    `source` is who may guess, and `foreseen` whether a grammar has a guess that may be tried. Where steps would have
    followed at once, a pass of its own costs `begin_steps` plain steps.
    """

    context: LiveContext
    inputs: Sequence[int]
    drawn: LogitsRequest
    sampler: Sampler
    first: DraftRow
    fixed: PackedMask | None
    stop_tokens: Collection[int]
    most: int
    source: DraftSourceName = "auto"
    foreseen: bool = False
    begin_steps: float = 0.0


@dataclass(frozen=True, slots=True)
class DraftSource:
    """What made the drafts, and whose `allowance` it used.

    `drafter` knows what was there before; None where that is not asked for. `pace` is that of who wrote the drafts,
    None for repetitions, and `spent` what that took, in plain steps; the pass waited `waited_seconds` for it.
    """

    name: DraftSourceName
    drafter: NgramDrafter | None
    allowance: Allowance
    pace: Pace | HeadPace | None = None
    spent: float = 0.0
    waited_seconds: float = 0.0

    def learn(self, emitted: Sequence[int], drafted: int, accepted: int, cost: float) -> None:
        """A step emitted tokens; of `drafted` guesses the first `accepted` were right, and verifying took `cost`."""
        own = (drafted, accepted) if self.pace is None else (0, 0)
        if self.drafter is not None:
            self.drafter.learn(emitted, *own)
        if self.pace is not None:
            self.pace.learn(drafted, accepted, self.spent)
        self.allowance.learn(accepted, self.spent + (cost if drafted else 0.0))


@dataclass(frozen=True, slots=True)
class Offer:
    """So many guesses of somebody who writes them, and the plain steps that these gain; below 0 it is a try."""

    guesses: int
    gain: float


NO_OFFER = Offer(0, 0.0)


async def guesses(services: Services, request: DraftRequest) -> tuple[Sequence[int], DraftSource]:
    """The guesses and their source, which learns from the outcome.

    Repetitions and what a grammar says cost nothing, so they come first unless somebody else gains more. Raises
    BatchFailedError when who writes fails on the device, InvalidArgumentError where the source asked for is not there.
    """
    drafts = services.drafts
    is_priced = services.queue.plain_seconds is not None
    head = drafts.head if _asked(request, "mtp", drafts.head) else None
    model = drafts.model if _asked(request, "draft_model", drafts.model) and is_priced else None
    by_head = NO_OFFER if head is None else _offer_of_head(services, request, head)
    found, source = _repeated(services, request, alone=head is None and model is None, beside=by_head.gain)
    repeating = source.drafter.saved - services.queue.window_steps if source.drafter is not None and found else 0.0
    beside = max(by_head.gain, repeating)
    if foreseen := _foreseen(services, request, beside):
        pace = request.context.grammar_pace
        found, source = foreseen, DraftSource("grammar", source.drafter, drafts.grammars, pace, request.begin_steps)
    by_model = NO_OFFER if model is None or found else _offer_of_model(services, request, model)
    uses_head = not found and by_head.guesses > 0 and (not by_model.guesses or by_head.gain >= by_model.gain)
    if head is not None and not uses_head:
        head.decline(request.context.id)
    if model is not None and (uses_head or not by_model.guesses):
        model.decline(request.context.id)
    if head is not None and uses_head:
        return await _written(services, request, source, by_head, head)
    if model is not None and by_model.guesses:
        return await _written(services, request, source, by_model, model)
    return found, source


def foresight_of(
    services: Services, context: LiveContext, source: DraftSourceName, matchers: Sequence[Matcher]
) -> Callable[[Matcher], bool] | None:
    """Tells the places where a grammar makes a guess; None where its guesses do not pay lately, nor may be tried."""
    if source not in ("auto", "grammar") or not services.jumps or len(matchers) != 1:
        return None
    allowance = services.drafts.grammars
    pace = context.grammar_pace = context.grammar_pace or Pace()
    pays = pace.pays(services.queue.window_steps) and not allowance.overdrawn
    return services.language.grammars.foresight.is_near if pays or allowance.may_try else None


def _asked(request: DraftRequest, name: DraftSourceName, there: object) -> bool:
    """Whether somebody may guess. Raises InvalidArgumentError if no other may, and it is not there."""
    if request.source == name and there is None:
        what, key = ("draft head of its own", "draft_head") if name == "mtp" else ("draft model", "draft_model")
        raise InvalidArgumentError(
            f"speculation: {name!r} was asked for, and the model has no {what}",
            hint=f"ask for 'auto', or see {key} in the reference of options",
            argument="speculation",
        )
    return there is not None and request.source in ("auto", name)


def _repeated(
    services: Services, request: DraftRequest, *, alone: bool, beside: float
) -> tuple[Sequence[int], DraftSource]:
    """What followed the last tokens before; nothing where somebody else gains more, `beside` plain steps."""
    context, allowance = request.context, services.drafts.repetitions
    if request.source not in ("auto", "ngram"):
        return [], DraftSource("ngram", None, allowance)
    drafter = context.drafter = context.drafter or NgramDrafter()
    source = DraftSource("ngram", drafter, allowance)
    found = drafter.draft(
        services.store.sequence_length(context.id),
        request.inputs,
        request.most,
        _reader(services, context),
        cost=services.queue.window_steps + request.begin_steps,
        may_try=allowance.step() and beside <= 0,
        # Where somebody stands by who writes, that knows better than a match by chance.
        shortest=SIZES[-1] if alone else SIZES[0],
    )
    if beside > 0 and found and beside > drafter.saved - services.queue.window_steps:
        return [], source
    return found, source


def _foreseen(services: Services, request: DraftRequest, beside: float) -> Sequence[int]:
    """What the grammar makes follow, in the blanks that the text has; nothing where others gain `beside` plain steps
    and it does not gain more."""
    context, pace = request.context, request.context.grammar_pace
    if not request.foreseen or pace is None or (beside > 0 and pace.saved - services.queue.window_steps <= beside):
        return []
    inputs, read = request.inputs, _reader(services, context)
    recent = RECENT - min(len(inputs), RECENT)
    found = services.language.grammars.foresight.tokens(
        request.first.matchers[0],
        inputs[-1],
        lambda: [*read(min(recent, services.store.sequence_length(context.id))), *inputs[-RECENT:]],
    )
    return found[: min(pace.length, request.most)]


def _offer_of_head(services: Services, request: DraftRequest, head: DraftHeadRunner) -> Offer:
    """How many tokens the model's own head is to write."""
    context, queue = request.context, services.queue
    pace = context.head_pace = context.head_pace or HeadPace(head.rates)
    trail = context.trail = HiddenTrail() if context.trail is None else context.trail  # an empty one is false
    may_try = head.allowance.step()
    if len(request.inputs) > 1 or not request.most:
        return NO_OFFER
    if not queue.knows_plain:
        pace.cooldown.begin(PLAIN_STEPS)
        return NO_OFFER
    reading = _in_steps(services, head.reading_seconds(len(trail))) / READ_FOR_STEPS

    def price(count: int) -> float:
        return queue.window_price(count) + _in_steps(services, head.seconds(count)) + reading + request.begin_steps

    best = pace.best(price, min(request.most, MOST_GUESSES))
    pays = best.gain > 0 and not head.allowance.overdrawn
    pace.looked(pays=pays)
    if pays and head.wants_plain():
        pace.cooldown.begin(PLAIN_STEPS)
        return NO_OFFER
    if pays:
        return Offer(best.guesses, best.gain)
    if may_try:
        return Offer(min(HEAD_TRIES, request.most), best.gain)
    return NO_OFFER


def _offer_of_model(services: Services, request: DraftRequest, model: DraftModelRunner) -> Offer:
    """How many tokens the draft model is to write."""
    context, queue = request.context, services.queue
    if context.draft_model_pace is None:
        context.draft_model_pace = Pace(SHORTEST if queue.batch_contexts > 1 else FIRST_LENGTH)
    pace, may_try = context.draft_model_pace, model.allowance.step()
    price = queue.window_steps + request.begin_steps
    # A prompt is not kept waiting for guesses at its first token.
    if len(request.inputs) > LONGEST or not (may_try or pace.pays(price)):
        return NO_OFFER
    return Offer(min(request.most, pace.length), pace.saved - price)


async def _written(
    services: Services,
    request: DraftRequest,
    source: DraftSource,
    offer: Offer,
    writer: DraftHeadRunner | DraftModelRunner,
) -> tuple[Sequence[int], DraftSource]:
    context, began = request.context, time.perf_counter()
    if isinstance(writer, DraftHeadRunner):
        name, pace, written = "mtp", context.head_pace, await _by_head(services, request, offer, writer)
    else:
        name, pace = "draft_model", context.draft_model_pace
        written = await writer.guess(_task(services, request, _own_sampler(request.sampler), offer.guesses))
    waited = time.perf_counter() - began
    await services.queue.restore(context)  # its pages may have gone to somebody else meanwhile
    spent = _in_steps(services, written.seconds) + request.begin_steps
    return written.tokens, DraftSource(name, source.drafter, writer.allowance, pace, spent, waited)


def _in_steps(services: Services, seconds: float | None) -> float:
    """Seconds of the device in plain steps of one context."""
    plain = services.queue.plain_seconds
    return 0.0 if not seconds or not plain else seconds * max(services.queue.batch_contexts, 1) / plain


async def _by_head(services: Services, request: DraftRequest, offer: Offer, head: DraftHeadRunner) -> Guesses:
    context = request.context
    if context.trail is None:
        return Guesses([])
    return await head.guess(
        HeadGuess(
            context=context.id,
            held=services.store.sequence_length(context.id),
            token=request.inputs[-1],
            read=_reader(services, context),
            trail=context.trail,
            most=offer.guesses,
            drawn=request.drawn,
        )
    )


def _own_sampler(sampler: Sampler) -> Sampler:
    """What the draft model draws with: its hidden states mean nothing to a rule that reads those of the model."""
    return sampler.ruled(None) if sampler.rule is not None and sampler.rule.graph.has_vectors else sampler


def _task(services: Services, request: DraftRequest, sampler: Sampler, most: int) -> Guess:
    """What the draft model is asked for."""
    return Guess(
        context=request.context.id,
        held=services.store.sequence_length(request.context.id),
        inputs=request.inputs,
        read=_reader(services, request.context),
        most=most,
        sampler=sampler,
        stream=request.drawn.stream,
        counter=request.drawn.counter,
        counts=request.drawn.counts,
        first=request.first,
        fixed=request.fixed,
        stop_tokens=request.stop_tokens,
    )


def _reader(services: Services, context: LiveContext) -> Callable[[int], list[int]]:
    return lambda count: services.store.last_tokens(context.id, count)
