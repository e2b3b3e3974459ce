"""Vectors of texts, from the final hidden states of a model."""

import asyncio
import math
from collections.abc import Sequence
from typing import Literal

from inferlet._calls.host import HostLink
from pie_mlx.calls import CreateContext, Forward, HiddenMean, HiddenState, HiddenStateValues, ReleaseContext, Slot
from pie_mlx.errors import InvalidArgumentError

AT_ONCE = 32
"""Texts whose pages are held at the same time."""


async def embedded(
    host: HostLink, model: str, texts: Sequence[list[int]], pooling: Literal["mean", "last"], *, normalize: bool
) -> list[list[float]]:
    """A vector for each text of tokens, in order. Raises InvalidArgumentError, ContextLengthError, OutOfPagesError."""
    if pooling not in ("mean", "last"):
        raise InvalidArgumentError(f"embed: pooling {pooling!r}", hint="use 'mean' or 'last'")
    if not all(texts):
        raise InvalidArgumentError("embed: a text without tokens", hint="leave empty texts out")
    turns = asyncio.Semaphore(AT_ONCE)

    async def one(tokens: list[int]) -> list[float]:
        async with turns:
            found = await _vector(host, model, tokens, pooling)
        return _normalized(found) if normalize else found

    return await asyncio.gather(*map(one, texts))


async def _vector(host: HostLink, model: str, tokens: list[int], pooling: str) -> list[float]:
    slot = Slot(0, HiddenMean()) if pooling == "mean" else Slot(len(tokens) - 1, HiddenState())
    context = host.call(CreateContext(model)).context
    try:
        reply = await host.submit(Forward(context, tokens, slots=[slot]))
    finally:
        host.post(ReleaseContext(context))
    return [value for result in reply.results if isinstance(result, HiddenStateValues) for value in result.values]


def _normalized(values: list[float]) -> list[float]:
    length = math.sqrt(sum(value * value for value in values))
    return [value / length for value in values] if length else values
