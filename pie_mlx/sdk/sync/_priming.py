"""Computing a buffer ahead of its generation."""

from pie_mlx.sdk.context import Context


async def flush_except_last(context: Context) -> None:
    """Compute all but the last token of the buffer, which the first step needs as its input.

    When it raises, the buffer is as before.
    """
    pending = context._pending  # pyright: ignore[reportPrivateUsage]
    context.buffer()  # learns what became of passes under way
    tokens = pending.take()
    pending.give_back(tokens[:-1])
    try:
        await context.flush()
    finally:
        pending.tokens += tokens[-1:]
