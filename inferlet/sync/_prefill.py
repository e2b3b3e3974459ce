"""Prefill the buffer before a generation begins."""

from collections.abc import Generator
from contextlib import contextmanager

from inferlet.context import Context
from pie_mlx.calls import Forward
from pie_mlx.errors import PieError


@contextmanager
def restored_on_error(context: Context) -> Generator[None, None, None]:
    """Restore the buffer, and a bid set by hand, when the block raises a PieError."""
    context.buffer()  # resolves passes whose await was cancelled
    pending, bidding = context._pending, context._handle.bidding  # pyright: ignore[reportPrivateUsage]
    before, bid = pending.snapshot(), bidding.override
    try:
        yield
    except PieError:
        pending.restore(before)
        if bid is not None:
            bidding.set(bid)
        raise


async def flush_except_last(context: Context) -> None:
    """Compute all but the last token of the buffer, which the first step needs as its input. The bid stays."""
    pending, handle = context._pending, context._handle  # pyright: ignore[reportPrivateUsage]
    tokens = pending.drain()
    pending.give_back(tokens[-1:])
    if len(tokens) > 1 or handle.owes_tokens:
        await handle.run(Forward(handle.id, pending=tokens[:-1]), lambda: pending.give_back(tokens[:-1]))
