"""Which tokens go into the batch: rule Q8."""

from collections.abc import Sequence

from pie_mlx.engine.schedule.base import Order
from pie_mlx.engine.schedule.plan import Chunk, Wait
from pie_mlx.engine.schedule.reason import Reason, ReasonKind
from pie_mlx.engine.schedule.view import ContextView, Limits, PassView


def fill_batch(
    passes: Sequence[PassView], contexts: dict[int, ContextView], order: Order, limits: Limits
) -> tuple[tuple[Chunk, ...], tuple[Wait, ...]]:
    """The rows of this tick, and the passes that got none.

    Slots and tokens go out in rank order. The head has its whole chunk. What the others need at least (an atomic pass
    all of it, any other one token) is set aside before long inputs of a high rank take the rest, so that they stall
    nobody who decodes.
    """
    if all_fit(passes, limits):
        return _in_order([Chunk(item.context, _most_tokens(item, limits)) for item in passes]), ()
    ranked = sorted(passes, key=lambda item: order.batch_rank(contexts[item.context]))
    chosen, waits = _choose(ranked, contexts, limits)
    return _in_order(_share_out(chosen, limits)), tuple(waits)


def all_fit(passes: Sequence[PassView], limits: Limits) -> bool:
    """Whether one batch has room for all of them, so that nobody needs a rank."""
    if len(passes) > limits.max_batch_contexts:
        return False
    return sum(_most_tokens(item, limits) for item in passes) <= limits.max_batch_tokens


def _in_order(chunks: list[Chunk]) -> tuple[Chunk, ...]:
    return tuple(sorted(chunks, key=lambda chunk: chunk.context))


def _share_out(chosen: list[PassView], limits: Limits) -> list[Chunk]:
    spare = max(0, limits.max_batch_tokens - sum(map(_least_tokens, chosen)))
    chunks: list[Chunk] = []
    for item in chosen:
        extra = min(_most_tokens(item, limits) - _least_tokens(item), spare)
        spare -= extra
        chunks.append(Chunk(item.context, _least_tokens(item) + extra))
    return chunks


def _choose(
    ranked: list[PassView], contexts: dict[int, ContextView], limits: Limits
) -> tuple[list[PassView], list[Wait]]:
    chosen: list[PassView] = []
    waits: list[Wait] = []
    left = limits.max_batch_tokens
    for item in ranked:
        wanted = _least_tokens(item) if chosen else _most_tokens(item, limits)
        if len(chosen) == limits.max_batch_contexts:
            waits.append(_wait(contexts[item.context], ReasonKind.BATCH_CONTEXTS))
        elif chosen and wanted > left:
            waits.append(_wait(contexts[item.context], ReasonKind.BATCH_TOKENS))
        else:
            chosen.append(item)
            left -= wanted
    return chosen, waits


def _least_tokens(item: PassView) -> int:
    return item.tokens if item.atomic else 1


def _most_tokens(item: PassView, limits: Limits) -> int:
    return item.tokens if item.atomic else min(item.tokens, limits.prefill_chunk_tokens, limits.max_batch_tokens)


def _wait(context: ContextView, kind: ReasonKind) -> Wait:
    return Wait(context.context, Reason(kind, context.bid, waited_ticks=context.waiting_ticks))
