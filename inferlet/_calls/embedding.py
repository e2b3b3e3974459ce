"""Sends texts to be embedded, a number of them at a time."""

import asyncio
import sys
from array import array
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import TypeVar

from inferlet._calls.host import HostLink
from inferlet.embedding import Ranked
from pie_mlx.calls import Embed, Rerank

T = TypeVar("T")
Text = TypeVar("Text", bound=str | list[int])

MOST_TEXTS = 128
"""Texts in one call."""
MOST_LENGTH = 1 << 18
"""Characters and tokens of a call, where it has more than one text."""
AHEAD = 2
"""Calls at the same time: while one is computed, the next one is tokenised."""


async def embedded(
    host: HostLink, texts: Sequence[str | list[int]], make: Callable[..., Embed]
) -> tuple[list[list[float]], list[int]]:
    """Vectors and counts of tokens. `make` gives the call for some of the texts."""

    async def embed(part: Sequence[str | list[int]]) -> tuple[list[list[float]], list[int]]:
        reply = await host.submit(make(texts=part))
        return _rows(reply.vectors, reply.dimensions), reply.tokens

    return _joined(await _in_parts(texts, embed))


async def relevances(
    host: HostLink, documents: Sequence[str], make: Callable[..., Rerank]
) -> tuple[list[Ranked], list[int]]:
    """Documents in order, best first, and counts of tokens. `make` gives the call for some of the documents."""

    async def rerank(part: Sequence[str]) -> tuple[list[float], list[int]]:
        reply = await host.submit(make(documents=part))
        return reply.scores, reply.tokens

    scores, tokens = _joined(await _in_parts(documents, rerank))
    order = sorted(range(len(scores)), key=lambda index: -scores[index])
    return [Ranked(index, scores[index]) for index in order], tokens


async def _in_parts(texts: Sequence[Text], work: Callable[[Sequence[Text]], Awaitable[T]]) -> list[T]:
    turns = asyncio.Semaphore(AHEAD)

    async def one(part: Sequence[Text]) -> T:
        async with turns:
            return await work(part)

    tasks = [asyncio.ensure_future(one(part)) for part in parts(texts)]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()


def parts(texts: Sequence[Text]) -> Iterator[Sequence[Text]]:
    """Texts in calls of at most MOST_TEXTS and MOST_LENGTH."""
    begin = length = 0
    for place, text in enumerate(texts):
        if place > begin and (place - begin == MOST_TEXTS or length + len(text) > MOST_LENGTH):
            yield texts[begin:place]
            begin, length = place, 0
        length += len(text)
    if begin < len(texts):
        yield texts[begin:]


def _joined(found: Sequence[tuple[list[T], list[int]]]) -> tuple[list[T], list[int]]:
    return [one for values, _ in found for one in values], [count for _, counts in found for count in counts]


def _rows(data: bytes, width: int) -> list[list[float]]:
    values = array("f", data)
    if sys.byteorder == "big":
        values.byteswap()
    return [values[begin : begin + width].tolist() for begin in range(0, len(values), width)]
