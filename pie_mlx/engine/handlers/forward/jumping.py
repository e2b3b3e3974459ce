"""Tokens that a grammar forces: a pass takes them as inputs instead of drawing them (G16)."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from msgspec.structs import replace

from pie_mlx.calls import Forward, ForwardReply, SampledTokens, Slot, joined
from pie_mlx.engine.handlers.forward.forward_request import next_sampler
from pie_mlx.engine.hosting.process import HostedProcess
from pie_mlx.engine.scheduler.forward_task import PassContinuation
from pie_mlx.engine.scheduler.live_context import LiveContext
from pie_mlx.engine.services import Services
from pie_mlx.engine.text.grammar import Matcher
from pie_mlx.engine.text.grammar.forced import ForcedRun, forced_run
from pie_mlx.engine.text.logit_mask import allowed_next, only_token, pack_runs

MOST_FORCED = 64
"""Forced tokens of one pass. To find one takes the engine's loop up to 0.1 ms."""


class Jump(NamedTuple):
    """The tokens of `run` come after the inputs of a pass."""

    run: ForcedRun

    def call(self, call: Forward) -> Forward:
        """The call with the tokens as inputs: it draws after them, and wants as many fewer."""
        tokens, count, (slot,) = [*call.tokens, *self.run.tokens], len(self.run.tokens), call.slots
        plan, speculation = call.continuation, call.speculation
        if plan is not None:
            plan = replace(plan, tokens=max(0, plan.tokens - count))
        if speculation is not None:
            left = speculation.limit - count
            speculation = replace(speculation, limit=left) if left > 0 else None
        slots = [Slot(len(tokens) - 1, slot.read)]
        return replace(call, tokens=tokens, slots=slots, continuation=plan, speculation=speculation)

    @contextmanager
    def counted(self, context: LiveContext, continuation: PassContinuation | None) -> Generator[None]:
        """Inside, the tokens count as drawn, so that later draws have the random numbers of plain decoding. If the pass
        fails, they do not."""
        count = len(self.run.tokens)
        context.sampled += count
        if continuation is not None:
            continuation.skip(count)
        try:
            yield
        except BaseException:
            context.sampled -= count
            raise

    def landed(self, reply: ForwardReply, matchers: Sequence[Matcher]) -> ForwardReply:
        """The reply with the forced tokens before the drawn ones. Moves the program's matchers past all of them."""
        (drawn,) = reply.results
        both = joined([SampledTokens(self.run.tokens), drawn] if isinstance(drawn, SampledTokens) else [])
        for matcher, fork, start in zip(matchers, self.run.matchers, self.run.starts, strict=True):
            taken = fork.taken - start
            if not matcher.follow(fork, taken):
                matcher.accept(both.tokens[:taken])
        count = len(self.run.tokens)
        return replace(reply, results=[both], kept=reply.kept + count, forced=count)


def may_jump(services: Services, context: LiveContext, call: Forward) -> bool:
    """Whether tokens of a call may be taken without a draw: no rule, score or monitor needs a draw of each of them."""
    if not services.jumps or call.advance_slot is None or context.watch is not None or not _most_wanted(call):
        return False
    if not (call.tokens and call.reserve and call.commit):
        return False
    sampler = next_sampler(call)
    return sampler is not None and sampler.rule is None and not sampler.scores


def find_jump(
    services: Services, process: HostedProcess, context: LiveContext, call: Forward, matchers: Sequence[Matcher]
) -> Jump | None:
    """The tokens that must follow the inputs of a call, as far as there is room for them; None if a choice comes first.

    Like drafts, they wait for no page and exceed no budget: tokens that do not fit are drawn later, one by one. Raises
    EmptyMaskError and GrammarError where nothing may follow, InvalidArgumentError for a bad logit mask.
    """
    vocabulary = services.model_info.vocabulary_size
    fixed = pack_runs(call.logit_mask, vocabulary) if call.logit_mask else None
    if all(matcher.freedom.tokens for matcher in matchers) or only_token(allowed_next(matchers, fixed)) is None:
        return None
    plans = (call.continuation, call.speculation)
    stops = frozenset[int]().union(*(plan.stop_tokens for plan in plans if plan is not None))
    run = forced_run(matchers, fixed, stops, _room(services, process, context, call))
    return Jump(run) if run.tokens else None


def _most_wanted(call: Forward) -> int:
    """How many tokens the call wants besides the one that it draws."""
    plan, speculation = call.continuation, call.speculation
    if plan is not None and plan.asked:
        return plan.tokens
    return 0 if speculation is None else speculation.limit


def _room(services: Services, process: HostedProcess, context: LiveContext, call: Forward) -> int:
    """How many tokens after its inputs the call wants, and positions, spare pages and budget allow."""
    store, inputs = services.store, len(call.pending) + len(call.tokens)
    counters = store.contexts[context.id].counters()
    pages = counters.working + services.queue.spare_pages()
    most = min(
        MOST_FORCED,
        _most_wanted(call),
        services.model_info.maximum_positions - store.sequence_length(context.id) - inputs,
        pages * store.page_size - counters.working_tokens - inputs,
    )
    free = services.accounting.wallets[process.account].free
    return most if free is None else min(most, free - inputs)
