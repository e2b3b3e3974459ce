"""Drafts that the engine makes for a pass: what followed the last tokens before, or what a draft model writes."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from pie_mlx.calls import Sampler
from pie_mlx.engine.model.runner.batch import LogitsRequest, PackedMask
from pie_mlx.engine.scheduler.live_context import LiveContext
from pie_mlx.engine.services import Services
from pie_mlx.engine.speculation.draft_model import Guess
from pie_mlx.engine.speculation.drafting import (
    FIRST_LENGTH,
    LONGEST,
    SHORTEST,
    SIZES,
    Allowance,
    DraftRow,
    NgramDrafter,
    Pace,
)


@dataclass(frozen=True, slots=True)
class DraftRequest:
    """Asks for at most `most` guesses at what follows `inputs`, for a pass that draws `drawn` at the last of them.

    `first` is the place after the last input, `fixed` the mask of every row; nothing is guessed after a stop token.
    """

    context: LiveContext
    inputs: Sequence[int]
    drawn: LogitsRequest
    first: DraftRow
    fixed: PackedMask | None
    stop_tokens: Collection[int]
    most: int


@dataclass(frozen=True, slots=True)
class DraftSource:
    """What made the drafts, and whose `allowance` it used. `pace` is the draft model's, if that wrote them, and `spent`
    what it took, in plain steps."""

    drafter: NgramDrafter
    allowance: Allowance
    pace: Pace | None = None
    spent: float = 0.0

    def learn(self, emitted: Sequence[int], drafted: int, accepted: int, cost: float) -> None:
        """A step emitted tokens; of `drafted` guesses the first `accepted` were right, and verifying took `cost`."""
        if self.pace is None:
            self.drafter.learn(emitted, drafted, accepted)
        else:
            self.drafter.learn(emitted, 0, 0)
            self.pace.learn(drafted, accepted, self.spent)
        self.allowance.learn(accepted, self.spent + (cost if drafted else 0.0))


async def guesses(services: Services, request: DraftRequest) -> tuple[Sequence[int], DraftSource]:
    """The guesses and their source, which learns from the outcome. Repetitions are tried first: they cost nothing.

    Raises BatchFailedError when the draft model fails on the device.
    """
    model, sampler, plain_seconds = services.drafts.model, request.drawn.read, services.queue.plain_seconds
    found, source = _repeated(services, request)
    if model is None or plain_seconds is None or not isinstance(sampler, Sampler):
        return found, source
    length = _length(services, request, model.allowance) if not found else 0
    if not length:
        model.decline(request.context.id)
        return found, source
    written = await model.guess(_task(services, request, sampler, length))
    await services.queue.restore(request.context)  # its pages may have gone to somebody else meanwhile
    spent = written.seconds * max(services.queue.batch_contexts, 1) / plain_seconds
    return written.tokens, DraftSource(source.drafter, model.allowance, request.context.draft_model_pace, spent)


def _repeated(services: Services, request: DraftRequest) -> tuple[Sequence[int], DraftSource]:
    """What followed the last tokens before."""
    context, allowance = request.context, services.drafts.repetitions
    drafter = context.drafter = context.drafter or NgramDrafter()
    found = drafter.draft(
        services.store.sequence_length(context.id),
        request.inputs,
        request.most,
        _reader(services, context),
        cost=services.queue.window_steps,
        may_try=allowance.step(),
        # Where a draft model stands by, it knows better than a match by chance.
        shortest=SIZES[-1] if services.drafts.model is None else SIZES[0],
    )
    return found, DraftSource(drafter, allowance)


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


def _length(services: Services, request: DraftRequest, allowance: Allowance) -> int:
    """How many tokens the draft model is to write, 0 while that does not pay."""
    context, queue = request.context, services.queue
    if context.draft_model_pace is None:
        context.draft_model_pace = Pace(SHORTEST if queue.batch_contexts > 1 else FIRST_LENGTH)
    pace, may_try = context.draft_model_pace, allowance.step()
    # A prompt is not kept waiting for guesses at its first token.
    if len(request.inputs) > LONGEST or not (may_try or pace.pays(queue.window_steps)):
        return 0
    return min(request.most, pace.length)
