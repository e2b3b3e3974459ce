"""Prompts of models with recurrent layers: which states are kept, so that a later prompt can continue there.

Keys and values of any page can be attached. The state of a recurrent layer is known only where it was kept, so pages
after the last kept state save nothing: every layer computes their tokens again.
"""

from collections.abc import Sequence
from typing import NamedTuple

from pie_mlx.engine.kv import WorkingToken
from pie_mlx.engine.model.networks.states import RecurrentState
from pie_mlx.engine.model.runner.batch import LogitsRequest
from pie_mlx.engine.scheduler.live_context import LiveContext
from pie_mlx.engine.services import Services

FEWEST_TOKENS = 64
"""A state is kept only after as many computed tokens: keeping one costs a pass, and the memory of many pages."""

FEWEST_BETWEEN = 512
"""The least distance of states within a long prompt: so many tokens are a pass of their own anyway."""


class Attached(NamedTuple):
    """How many inputs of a pass are on cached pages that were `attached`; `replayed` more are on cached pages too, but
    are computed again."""

    attached: int
    replayed: int


def attach_pages(services: Services, number: int, inputs: Sequence[WorkingToken], limit: int) -> Attached:
    """Attach cached pages of the first `limit` of `inputs`, up to the last one after which the context can continue:
    with recurrent layers, that is one with a kept state."""
    working = services.store.working
    if not services.runner.model.recurrent:
        return Attached(working.match_prefix(number, inputs, limit), 0)
    kept_states = services.store.pool.kept_states
    records = working.cached_records(number, inputs, limit)
    cached = max(0, working.tokens_to_fill(number, len(records))) if records else 0
    for depth, record in reversed(list(enumerate(records, 1))):
        state = None if record.checkpoint is None else kept_states.use(record.checkpoint)
        covered = working.tokens_to_fill(number, depth)
        if state is not None and covered > 0:
            working.match_prefix(number, inputs, covered)
            services.runner.model.network.set_state(number, state)
            return Attached(covered, cached - covered)
    return Attached(0, cached)


def is_shared_soon(services: Services, inputs: Sequence[WorkingToken]) -> bool:
    """Whether other contexts can continue after these inputs once this one has computed them."""
    return len(inputs) >= FEWEST_TOKENS or not services.runner.model.recurrent


async def compute_to_checkpoints(
    services: Services, context: LiveContext, inputs: Sequence[WorkingToken], reads: Sequence[LogitsRequest]
) -> int:
    """Compute the first inputs, up to the end of each page that is worth a kept state; returns how many.

    Such are the last page before the first token that is read, where an equal prompt would continue, and the last one
    that is cached already: another prompt differed from there on, and the next one may. Between them are pages so far
    apart that their states take no more memory than the prompt itself.
    """
    store, working, done = services.store, services.store.working, 0
    limit = min([len(inputs), *(read.index for read in reads)])
    if limit < FEWEST_TOKENS:
        return 0
    cached = working.tokens_to_fill(context.id, len(working.cached_records(context.id, inputs, limit)))
    last = working.tokens_to_last_page(context.id, limit)
    distance = max(FEWEST_BETWEEN, store.states.pages_each * store.page_size)
    first = distance - store.sequence_length(context.id) % distance
    for end in sorted({cached, last, *range(first, last - FEWEST_TOKENS, distance)}):
        if end - done < FEWEST_TOKENS:
            continue
        await services.queue.run(context, inputs[done:end], [], commits=True)
        keep_state(services, context.id)
        done = end
    return done


def keep_state(services: Services, number: int) -> None:
    """Keep the state after the last token of a context that is in the pool; nothing where there is none."""
    known, store = services.runner.model.network.state(number), services.store
    if known is not None and store.contexts[number].usable and known.tokens == store.sequence_length(number):
        store.states.keep(number, known, known.tokens, known.size_bytes, shared=True)


def keep_way_back(services: Services, context: LiveContext, before: RecurrentState | None) -> None:
    """A pass has committed pages, and no truncation goes further back: keep the last state that is not after them, the
    one `before` the pass or the one after it.

    A state that is a row of a batch has to be copied; that is done only for programs that have truncated before.
    """
    store, number = services.store, context.id
    end = store.contexts[number].counters().committed * store.page_size
    after = services.runner.model.network.state(number)
    known = after if after is not None and after.tokens <= end else before
    if known is not None and known.tokens <= end and (known.size == 1 or context.truncates):
        store.states.keep(number, known, known.tokens, known.size_bytes, shared=False)
