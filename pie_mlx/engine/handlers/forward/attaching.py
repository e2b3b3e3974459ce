"""What a pass need not compute: pages that are cached, or that another pass computes at this moment."""

from pie_mlx.calls import Forward
from pie_mlx.engine.handlers.forward.checkpointing import attach_pages
from pie_mlx.engine.handlers.forward.forward_request import ForwardRequest
from pie_mlx.engine.scheduler.live_context import LiveContext
from pie_mlx.engine.services import Services


async def attach(
    services: Services, context: LiveContext, call: Forward, request: ForwardRequest
) -> tuple[int, bytes | None]:
    """Attach what there is; how many inputs that covers, and the key of the first page to compute (K5, K6).

    Waits where another pass computes that page: equal prompts that come together are computed once.
    """
    limit = request.plain
    if call.slots:
        limit = min(limit, request.own_start + min([slot.index for slot in call.slots]))
    if not limit or not call.reserve:
        return 0, None
    store, attached = services.store, 0

    def runs(other: int) -> bool:
        return other in store.contexts and store.contexts[other].usable

    while True:
        left = request.inputs[attached : request.plain]
        attached += attach_pages(services, context.id, left, limit - attached)
        wanted = request.inputs[attached:limit]
        key = store.working.next_key(context.id, wanted)
        if not await services.underway.wait(key, wanted, runs):
            return attached, key
        await services.queue.restore(context)
