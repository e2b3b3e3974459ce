"""Prompts of models with recurrent layers: which states are kept, and where a later prompt goes on.

Keys and values of any page can be attached. The state of a recurrent layer is known only where it was kept, so pages
behind the last kept state save nothing: every layer computes their tokens again.
"""

from collections.abc import Sequence

from pie_mlx.engine.kv import WorkingToken
from pie_mlx.engine.model.runner.batch import LogitsRequest
from pie_mlx.engine.scheduler.live_context import LiveContext
from pie_mlx.engine.services import Services

FEWEST_TOKENS = 64
"""A state is kept only behind as many computed tokens: keeping one costs a pass, and the memory of many pages."""


def attach_pages(services: Services, number: int, inputs: Sequence[WorkingToken], limit: int) -> int:
    """Attach cached pages with the first `limit` of `inputs` as far as the context can go on behind them; how many
    inputs that covers."""
    working = services.store.working
    if not services.runner.model.recurrent:
        return working.match_prefix(number, inputs, limit)
    checkpoints = services.store.checkpoints
    keys = working.cached_keys(number, inputs, limit)
    depth = checkpoints.deepest(keys)
    covered = working.tokens_to_fill(number, depth)
    if covered <= 0:
        return 0
    working.match_prefix(number, inputs, covered)
    services.runner.model.network.set_state(number, checkpoints.get(keys[depth - 1]))
    return covered


async def compute_to_checkpoints(
    services: Services, context: LiveContext, inputs: Sequence[WorkingToken], reads: Sequence[LogitsRequest]
) -> int:
    """Compute leading inputs up to each page whose end is worth a state; how many.

    These are the last page before the first token that is read, where an equal prompt goes on, and the last that is
    cached already: there another prompt parted from this one, and the next may do so.
    """
    working, done = services.store.working, 0
    limit = min([len(inputs), *(read.index for read in reads)])
    if limit < FEWEST_TOKENS:
        return 0
    cached = working.tokens_to_fill(context.id, len(working.cached_keys(context.id, inputs, limit)))
    for end in sorted({cached, working.tokens_to_last_page(context.id, limit)}):
        if end - done < FEWEST_TOKENS:
            continue
        await services.queue.run(context, inputs[done:end], [], commits=True)
        await _keep_state(services, context.id)
        done = end
    return done


async def _keep_state(services: Services, number: int) -> None:
    """Keep the state behind the last page of a context; not where positions forbid to commit that page."""
    key, model = services.store.working.end_key(number), services.runner.model
    if key is None or key in services.store.checkpoints:
        return
    state = model.network.state(number)
    if state is None:
        return
    if state.size > 1:  # it would keep others in memory
        state = await services.runner.call(state.alone)
    services.store.checkpoints.put(key, state, state.size_bytes)
