"""Computes how many pages fit in memory."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import mlx.core as mx

from pie_mlx.backends import current_backend
from pie_mlx.engine.model.memory.segments import MOST
from pie_mlx.errors import OutOfPagesError
from pie_mlx.metal import LayerShape, page_bytes, pages_for_budget

CONTEXTS = 32
"""Most contexts of full length in an automatically sized pool. A larger pool would bring no benefit."""

BUFFER_CACHE_BYTES = 512 << 20


@dataclass(frozen=True, slots=True)
class MemoryShare:
    """What all models of an engine may use of the memory, and what the others have `taken_bytes` of."""

    memory_bytes: int
    taken_bytes: int = 0


class Footprint(Protocol):
    """The part of a model card that decides about memory."""

    @property
    def dtype(self) -> mx.Dtype: ...
    @property
    def weight_bytes(self) -> int: ...
    @property
    def maximum_positions(self) -> int: ...


def pool_pages(
    card: Footprint,
    shapes: Sequence[LayerShape],
    pages: int | None,
    page_size: int,
    memory_fraction: float,
    headroom_bytes: int,
    step_bytes: int = 0,
    state_bytes: int = 0,
    share: MemoryShare | None = None,
) -> int:
    """`pages` if they fit. If None, as many as are useful and fit beside the weights, the `step_bytes` of the largest
    step and other models, in the `share` of this one. Raises OutOfPagesError with the numbers.

    A context whose recurrent layers have a state of `state_bytes` pays for it in pages, whose memory stays unused: the
    states of as many contexts as can be in the pool fit beside it.
    """
    backend, each = current_backend(), page_bytes(shapes, page_size, card.dtype)
    share = share or MemoryShare(backend.memory_bytes())
    copied = _copied_page_bytes(shapes, page_size, card.dtype) if backend.copies_layers else 0
    longest = -(-card.maximum_positions // page_size)
    if not each:
        return pages or CONTEXTS * longest
    shared = -(-state_bytes // (1 + -(-state_bytes // each)))
    if pages is not None:
        beside = card.weight_bytes, step_bytes + min(pages, longest) * copied, headroom_bytes, share.taken_bytes
        _check_fit(share.memory_bytes, pages, each + shared, *beside)
        return pages
    budget = int((share.memory_bytes - card.weight_bytes - step_bytes) * memory_fraction) - headroom_bytes
    budget = min(budget, share.memory_bytes - share.taken_bytes - card.weight_bytes - step_bytes - headroom_bytes)
    if backend.largest_pool_bytes is not None:
        budget = min(budget, backend.largest_pool_bytes)
    budget -= copied * max(0, min(longest, budget // (each + copied)))
    budget = budget * each // (each + shared)
    return min(pages_for_budget(shapes, page_size, card.dtype, budget), CONTEXTS * longest)


def state_pages(each: int, state_bytes: int, pages: int, free_bytes: int) -> int:
    """The price of a state in pages of `each` bytes: as many as take its bytes. Where pages take none, so many that no
    more states than `free_bytes` hold can be in a pool of `pages`."""
    if not state_bytes:
        return 0
    return -(-state_bytes // each) if each else -(-pages // max(1, free_bytes // state_bytes))


def check_state_fits(model: str, state_pages: int, pages: int) -> None:
    """Raises OutOfPagesError for a pool without room for the state of one context and a page of its tokens."""
    if state_pages and state_pages >= pages:
        raise OutOfPagesError(
            f"page pool: what the recurrent layers of {model} remember of one context costs {state_pages:,} pages, "
            f"the pool has {pages:,}",
            hint="ask for more pages, free memory, or choose a smaller model",
            needed=state_pages + 1,
            capacity=pages,
        )


def _copied_page_bytes(shapes: Sequence[LayerShape], page_size: int, dtype: mx.Dtype) -> int:
    """Bytes of one page's copies in all layers that may have begun.

    Attention of long chunks, and all attention in MLX operations, gathers the pages of a context layer by layer.
    """
    return sum(sorted(shape.copy_bytes(dtype) for shape in shapes)[-(MOST + 1) :]) * page_size


def _check_fit(
    limit: int, pages: int, each: int, weight_bytes: int, step_bytes: int, headroom_bytes: int, taken_bytes: int
) -> None:
    beside = weight_bytes + step_bytes + headroom_bytes + taken_bytes
    if pages * each + beside > limit:
        fitting = max(0, (limit - beside) // each)
        raise OutOfPagesError(
            f"page pool: {pages:,} pages take {_gib(pages * each)}; with {_gib(weight_bytes)} of weights, "
            f"{_gib(step_bytes)} for the largest step"
            f"{f', {_gib(taken_bytes)} of other models' if taken_bytes else ''} "
            f"and {_gib(headroom_bytes)} of headroom they exceed the "
            f"{_gib(limit)} available",
            hint=f"ask for at most {fitting:,} pages, lower the headroom or choose a smaller model",
            needed=pages,
            capacity=fitting,
        )


def bound_buffer_cache(limit_bytes: int) -> None:
    """Limits the cache of freed buffers, which would otherwise compete with the pool."""
    mx.set_cache_limit(min(limit_bytes, current_backend().memory_bytes() // 16))


def _gib(size: int) -> str:
    return f"{size / (1 << 30):.2f} GiB"
