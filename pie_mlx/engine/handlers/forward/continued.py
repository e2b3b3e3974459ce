"""A call that asks for the passes behind its own: each computes what the one before drew."""

import asyncio
from collections.abc import Awaitable, Callable

from msgspec.structs import replace

from pie_mlx.calls import Continuation, Forward, ForwardReply, SampledTokens, Sampler, Slot, joined
from pie_mlx.engine.handlers.forward.forward_request import next_sampler
from pie_mlx.engine.scheduler.continuation import FurtherSteps
from pie_mlx.engine.scheduler.live_context import LiveContext
from pie_mlx.errors import BatchFailedError, ForwardTimeoutError, InvalidArgumentError, PieError

RunPass = Callable[[Forward, FurtherSteps | None], Awaitable[ForwardReply]]


async def run_passes(run: RunPass, context: LiveContext, call: Forward, plan: Continuation) -> ForwardReply:
    """Run all passes of a call; the reply brings their tokens as those of one.

    Raises InvalidArgumentError for a call that cannot continue, and what the first pass raises. If a later pass fails,
    the reply brings the tokens so far, and the next call gets the error. A later call on the context ends the passes,
    as it comes before those that its program has not asked for yet (P3).
    """
    sampler, named = next_sampler(call), context.named
    if not isinstance(plan.tokens, int) or plan.tokens < 0:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidArgumentError(f"continuation: {plan.tokens} tokens", hint="ask for none or more")
    if sampler is None:
        raise InvalidArgumentError(
            "forward: passes follow one another only where each draws one token at its last input, reads nothing else, "
            "and has no positions, attention masks or drafts of the program",
            hint="send the passes one by one",
        )
    stops = frozenset(plan.stop_tokens)
    passes = _Passes(call, plan, sampler, await run(call, FurtherSteps.of(context, plan.tokens, stops)))
    while not passes.is_over and context.named == named and not _is_cancelled():
        try:
            passes.add(await run(passes.following(), FurtherSteps.of(context, passes.left - 1, stops)))
        except asyncio.CancelledError:
            break
        except (BatchFailedError, ForwardTimeoutError) as error:
            context.owed = error  # it does not come up again by itself
            break
        except PieError:
            break
    context.rests = passes.is_over
    return passes.reply()


def _is_cancelled() -> bool:
    """Whether the call is being cancelled. A pass that is already on the device completes, and hides that (E5)."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


class _Passes:
    """The passes of a call so far, of which `first` was the reply to the first."""

    def __init__(self, call: Forward, plan: Continuation, sampler: Sampler, first: ForwardReply) -> None:
        self._call, self._plan, self._sampler = call, plan, sampler
        self._drawn, self._in_kv, self._drafted = SampledTokens([]), 0, 0
        self._attached = first.attached
        self.add(first)

    @property
    def is_over(self) -> bool:
        """Whether nothing more is to be drawn."""
        return self._ended or self.left <= 0

    @property
    def left(self) -> int:
        """How many tokens are still to be drawn."""
        return self._plan.tokens + 1 - len(self._drawn.tokens)

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
            slots=[Slot(len(tokens) - 1, self._sampler)],
            speculation=speculation,
            continuation=replace(self._plan, claimed=0),
            horizon=None if self._plan.prospect is None else self._plan.prospect.after(drawn),
        )

    def add(self, reply: ForwardReply) -> None:
        """A further pass is over."""
        (result,) = reply.results
        drawn = result if isinstance(result, SampledTokens) else SampledTokens([])
        self._in_kv = len(self._drawn.tokens) + reply.kept
        self._drawn = joined([self._drawn, drawn])
        self._drafted += reply.drafted
        self._ended = reply.grammar_terminated or not set(self._plan.stop_tokens).isdisjoint(drawn.tokens)
        self._last = reply

    def reply(self) -> ForwardReply:
        """What the program receives."""
        return replace(
            self._last, results=[self._drawn], attached=self._attached, drafted=self._drafted, kept=self._in_kv
        )
