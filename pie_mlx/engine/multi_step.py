"""Passes that follow one another without their program: each computes what the one before drew."""

import asyncio
from collections.abc import Awaitable, Callable

from msgspec.structs import replace

from pie_mlx.calls import Forward, ForwardReply, MultiStep, SampledTokens, Sampler, Slot, joined
from pie_mlx.engine.course import Course
from pie_mlx.engine.live_context import LiveContext
from pie_mlx.errors import BatchFailedError, ForwardTimeoutError, InvalidArgumentError, PieError

RunPass = Callable[[Forward, Course | None], Awaitable[ForwardReply]]
"""Runs a pass, which may go on by itself as far as the course says."""


async def run_steps(run: RunPass, context: LiveContext, call: Forward, plan: MultiStep) -> ForwardReply:
    """All passes of a call; the tokens they drew as those of one.

    Raises InvalidArgumentError for a call that cannot go on by itself, and what the first pass raises. Whatever keeps
    a later one from running ends them: what was drawn is answered, and who goes on is told. So does a later call on
    the context: it comes before whatever its program has not asked for yet (P3).
    """
    if not isinstance(plan.tokens, int) or plan.tokens < 1:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidArgumentError(f"multi_step: {plan.tokens} tokens", hint="draw at least one")
    sampler, named = next_sampler(call), context.named
    if sampler is None:
        raise InvalidArgumentError(
            "forward: passes follow one another only where each draws one token at its last input, reads nothing else, "
            "and has no positions, attention masks or drafts of the program",
            hint="send the passes one by one",
        )
    stops = frozenset(plan.stop_tokens)
    steps = Steps(call, plan, sampler, await run(call, Course.of(context, plan.tokens - 1, stops)))
    while not steps.is_over and context.named == named and not _is_taken_back():
        try:
            steps.add(await run(steps.following(), Course.of(context, steps.left - 1, stops)))
        except asyncio.CancelledError:
            break
        except (BatchFailedError, ForwardTimeoutError) as error:
            context.owed = error  # it does not come up again by itself
            break
        except PieError:
            break
    context.rests = steps.is_over
    return steps.reply()


def _is_taken_back() -> bool:
    """Whether somebody cancels the call. A pass that is already on the device completes, and hides it (E5)."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


class Steps:
    """The passes of a call so far, of which `first` was the reply to the first."""

    def __init__(self, call: Forward, plan: MultiStep, sampler: Sampler, first: ForwardReply) -> None:
        self._call, self._plan, self._sampler, self._last = call, plan, sampler, first
        self._stops = frozenset(plan.stop_tokens)
        self._drawn = _drawn(first)
        self._in_kv, self._attached, self._drafted = first.kept, first.attached, first.drafted
        self._ended = self._ends(first)

    @property
    def is_over(self) -> bool:
        """Whether nothing more is to be drawn."""
        return self._ended or self.left <= 0

    @property
    def left(self) -> int:
        """How many tokens are still to be drawn."""
        return self._plan.tokens - len(self._drawn.tokens)

    def following(self) -> Forward:
        """The next pass: it computes what was drawn and is not in KV."""
        drawn, tokens = len(self._drawn.tokens), self._drawn.tokens[self._in_kv :]
        speculation, left = self._call.speculation, self.left - 1
        if speculation is not None:
            speculation = replace(speculation, limit=min(speculation.limit, left)) if left else None
        return replace(
            self._call,
            tokens=tokens,
            pending=[],
            taken=0,
            slots=[Slot(len(tokens) - 1, self._sampler)],
            speculation=speculation,
            horizon=None if self._plan.prospect is None else self._plan.prospect.after(drawn),
        )

    def add(self, reply: ForwardReply) -> None:
        """A further pass is over."""
        self._in_kv = len(self._drawn.tokens) + reply.kept
        self._drawn = joined([self._drawn, _drawn(reply)])
        self._drafted += reply.drafted
        self._ended = self._ends(reply)
        self._last = reply

    def reply(self) -> ForwardReply:
        """What the program is told."""
        return replace(
            self._last, results=[self._drawn], attached=self._attached, drafted=self._drafted, kept=self._in_kv
        )

    def _ends(self, reply: ForwardReply) -> bool:
        return reply.grammar_terminated or not self._stops.isdisjoint(_drawn(reply).tokens)


def next_sampler(call: Forward) -> Sampler | None:
    """The sampler that draws each next token, if a pass like this one can follow by itself."""
    drafts = None if call.speculation is None else call.speculation.drafts
    if len(call.slots) == 1 and call.positions is None and call.attention_masks is None and drafts is None:
        slot = call.slots[0]
        if isinstance(slot.read, Sampler) and slot.read.draws == 1 and slot.index == len(call.tokens) - 1:
            return slot.read
    return None


def _drawn(reply: ForwardReply) -> SampledTokens:
    (result,) = reply.results
    return result if isinstance(result, SampledTokens) else SampledTokens([])
