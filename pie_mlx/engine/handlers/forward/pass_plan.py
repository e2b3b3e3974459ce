"""What one pass computes, reads and drafts, decided before it takes a page."""

from collections.abc import Sequence
from dataclasses import dataclass

from pie_mlx.calls import Forward
from pie_mlx.engine.handlers.forward.continuation import claimed_tokens, limit_steps, may_continue
from pie_mlx.engine.handlers.forward.engine_drafts import foresight_of
from pie_mlx.engine.handlers.forward.forward_request import checked_inputs, plain_inputs, requests
from pie_mlx.engine.handlers.forward.speculating import DraftedPass, plan_drafts
from pie_mlx.engine.hosting.process import HostedProcess
from pie_mlx.engine.kv import WorkingToken
from pie_mlx.engine.market import declared_horizon
from pie_mlx.engine.model.adapters import AdapterUse
from pie_mlx.engine.model.runner.batch import LogitsRequest
from pie_mlx.engine.scheduler.forward_task import PassContinuation, freedom_of
from pie_mlx.engine.scheduler.live_context import LiveContext
from pie_mlx.engine.services import Services
from pie_mlx.engine.speculation.drafting import Cooldown, DraftRow
from pie_mlx.engine.text.grammar import Matcher
from pie_mlx.engine.text.logit_mask import allowed_next


@dataclass(slots=True)
class PassPlan:
    """One pass of a context that held `held_tokens` before it, under the `matchers` of its call.

    Of its `inputs`, the first `plain_count` may come from the cache (K5), and the last `forced_count` were appended
    because a grammar left no choice. `reads` index the inputs. `claimed` prefetched tokens of earlier replies were used
    by the program. With `drafted` the pass verifies drafts; if it is a plain pass because its drafters rest, `resting`
    are their cooldowns. `continuation` has the steps that may follow the pass.
    """

    context: LiveContext
    call: Forward
    matchers: Sequence[Matcher]
    held_tokens: int
    inputs: Sequence[WorkingToken]
    plain_count: int
    forced_count: int
    reads: Sequence[LogitsRequest]
    claimed: int
    drafted: DraftedPass | None
    resting: Sequence[Cooldown]
    continuation: PassContinuation | None

    @property
    def further(self) -> int:
        """Tokens of further steps that are in KV, once the pass is over."""
        return 0 if self.continuation is None else self.continuation.kept


async def plan_pass(
    services: Services,
    process: HostedProcess,
    context: LiveContext,
    call: Forward,
    matchers: Sequence[Matcher],
    continuation: PassContinuation | None,
    use: AdapterUse,
    forced_count: int,
) -> PassPlan:
    """Check a call against the model and its context, renew its bid, and plan drafts and further steps.

    Raises InvalidArgumentError and ContextLengthError for a call that does not fit, EmptyMaskError and GrammarError
    where nothing may be drawn, and what `plan_drafts` raises.
    """
    claimed = claimed_tokens(context, call)
    held = services.store.sequence_length(context.id)
    inputs, fixed = await checked_inputs(services, process, context, call, held, use)
    if call.horizon is not None:
        services.rebid(process, context, declared_horizon(*call.horizon))
    free = freedom_of(matchers)
    bound = () if free.tokens else matchers
    mask = allowed_next(bound, fixed) if bound or fixed is not None else None
    reads = requests(services.store, context, call, inputs, mask, claimed)
    drafted, resting = None, ()
    if call.speculation is not None:
        row = DraftRow(matchers, mask)
        drafted, resting = await plan_drafts(services, context, call, call.speculation, inputs, reads, row, fixed)
    if drafted is not None or not may_continue(call, matchers):
        continuation = None
    if continuation is not None:
        continuation.restrict(bound, fixed, free)
        if call.speculation is not None:
            continuation.foresees = foresight_of(services, context, call.speculation.source, matchers)
        if resting and not continuation.asked:
            continuation.trim(min([one.left for one in resting]))
        limit_steps(services, continuation, claimed, held + len(inputs))
    plain = plain_inputs(call, held)
    return PassPlan(
        context, call, matchers, held, inputs, plain, forced_count, reads, claimed, drafted, resting, continuation
    )
