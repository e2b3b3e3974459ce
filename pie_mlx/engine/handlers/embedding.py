"""Vectors of texts, and how well documents answer a query."""

import asyncio
from collections.abc import Generator, Sequence
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from pie_mlx import calls
from pie_mlx.engine.embedding.embedder import Embedder
from pie_mlx.engine.embedding.judging import certainty, judged_texts
from pie_mlx.engine.handlers.base import answers
from pie_mlx.engine.handlers.contexts import create, release
from pie_mlx.engine.handlers.forward.handler import forward
from pie_mlx.engine.hosting.process import HostedProcess
from pie_mlx.engine.model.encoders.encoder import EncoderInput, Reading
from pie_mlx.engine.services import Services
from pie_mlx.errors import InvalidArgumentError

T = TypeVar("T")

AT_ONCE = 32
"""Texts of a call whose pages are held at the same time."""
MOST_TEXTS = 1024
"""Texts of a call."""

Rows = npt.NDArray[np.float32]


@answers(calls.Embed)
async def embed(services: Services, process: HostedProcess, call: calls.Embed) -> calls.Embeddings:
    embedder = services.embedder(call.model)
    _check(embedder, call)
    prompt = embedder.prompt(call.prompt, call.prompt_name)
    inputs = await _read(services, process, embedder.reader.texts(call.texts, prompt, truncates=call.truncate))
    rows = await _vectors(services, process, call.model, inputs, call.pooling or embedder.format.pooling)
    if call.dimensions:
        rows = rows[:, : call.dimensions]
    if embedder.format.normalizes if call.normalize is None else call.normalize:
        rows = _normalised(rows)
    return calls.Embeddings(rows.astype("<f4").tobytes(), rows.shape[1], [len(one) for one in inputs])


@answers(calls.Rerank)
async def rerank(services: Services, process: HostedProcess, call: calls.Rerank) -> calls.Relevance:
    embedder = services.embedder(call.model)
    _check_count(len(call.documents))
    if not call.query or not all(call.documents):
        raise InvalidArgumentError("rerank: an empty text", hint="leave empty ones out")
    work = {"scores": _scored, "judges": _judged, "compares": _compared}[embedder.format.reranking]
    scores, tokens = await work(services, process, embedder, call)
    return calls.Relevance(scores, tokens)


async def _scored(
    services: Services, process: HostedProcess, embedder: Embedder, call: calls.Rerank
) -> tuple[list[float], list[int]]:
    """By the head of a cross-encoder."""
    inputs = await _read(services, process, embedder.reader.pairs(call.query, call.documents, truncates=call.truncate))
    rows = (await _encoded(services, process, embedder, inputs, "score"))[:, 0]
    with np.errstate(over="ignore"):
        scores = 1 / (1 + np.exp(-rows)) if embedder.squashes else rows
    return scores.tolist(), [len(one) for one in inputs]


async def _judged(
    services: Services, process: HostedProcess, embedder: Embedder, call: calls.Rerank
) -> tuple[list[float], list[int]]:
    """By what a decoder says next. Its prompts have a beginning in common, which is computed once."""
    texts = judged_texts(embedder.reader, call.query, call.documents, call.instruction, truncates=call.truncate)
    inputs = await _read(services, process, texts)
    wanted = calls.Logprobs(list(embedder.judges or ()))
    slots = [[calls.Slot(len(tokens) - 1, wanted)] for tokens in inputs]
    found = await _passes(services, process, call.model, inputs, slots)
    scores = [certainty(*one.values) for one in found if isinstance(one, calls.LogprobValues)]
    return scores, [len(tokens) for tokens in inputs]


async def _compared(
    services: Services, process: HostedProcess, embedder: Embedder, call: calls.Rerank
) -> tuple[list[float], list[int]]:
    """By the cosine of the vectors of query and document."""
    format, reader = embedder.format, embedder.reader
    query, document = (format.prompts.get(name, format.default_prompt) for name in ("query", "document"))
    asked = await _read(services, process, reader.texts([call.query], query, truncates=False))
    others = await _read(services, process, reader.texts(call.documents, document, truncates=call.truncate))
    rows = _normalised(await _vectors(services, process, call.model, [*asked, *others], format.pooling))
    counts = [len(one) for one in others]
    counts[0] += len(asked[0])
    return (rows[1:] @ rows[0]).tolist(), counts


def _check(embedder: Embedder, call: calls.Embed) -> None:
    """Raises InvalidArgumentError."""
    format, pooling = embedder.format, call.pooling
    _check_count(len(call.texts))
    if format.reranking == "scores":
        raise InvalidArgumentError(
            f"embed: {call.model} is a cross-encoder, which has scores and no vectors", hint="use rerank"
        )
    if not 0 <= call.dimensions <= format.dimensions:
        raise InvalidArgumentError(
            f"embed: dimensions: {call.dimensions:,}, this model's vectors have {format.dimensions:,}",
            hint="ask for fewer, or for 0: all",
        )
    if embedder.queue is None and (pooling or format.pooling) not in ("mean", "last"):
        raise InvalidArgumentError(f"embed: pooling {pooling!r} of a decoder", hint="use 'mean' or 'last'")


def _check_count(count: int) -> None:
    if not 0 < count <= MOST_TEXTS:
        raise InvalidArgumentError(
            f"embed: {count:,} texts in one call, 1 to {MOST_TEXTS:,} are allowed", hint="send them in several calls"
        )


async def _read(services: Services, process: HostedProcess, steps: Generator[int, None, T]) -> T:
    """What the steps return, beside the engine's loop, in turns with other programs."""
    return await services.language.turns.run(process.id, steps, process.time.count)


async def _vectors(
    services: Services, process: HostedProcess, model: str, inputs: Sequence[EncoderInput], pooling: calls.Pooling
) -> Rows:
    """[B, width], as the network has them."""
    embedder = services.embedder(model)
    if embedder.queue is not None:
        return await _encoded(services, process, embedder, inputs, pooling)
    tokens = [list(one.tokens) for one in inputs]
    mean = [calls.Slot(0, calls.HiddenMean())]
    slots = [mean if pooling == "mean" else [calls.Slot(len(one) - 1, calls.HiddenState())] for one in tokens]
    found = await _passes(services, process, model, tokens, slots)
    return np.array([one.values for one in found if isinstance(one, calls.HiddenStateValues)], np.float32)


async def _encoded(
    services: Services, process: HostedProcess, embedder: Embedder, inputs: Sequence[EncoderInput], reading: Reading
) -> Rows:
    """The outputs of an encoder, charged as the tokens of all inputs."""
    assert embedder.queue is not None
    count = sum(map(len, inputs))
    reservation, read = services.accounting.reserve_tokens(process.account, count), 0
    try:
        rows = await embedder.queue.run(process.username, inputs, reading)
        read = count
    finally:
        services.accounting.charge_tokens(process.account, reservation, read)
    return np.stack(rows)


async def _passes(
    services: Services,
    process: HostedProcess,
    model: str,
    texts: Sequence[list[int]],
    slots: Sequence[list[calls.Slot]],
) -> list[calls.AnyResult]:
    """The first result of a pass of each text, some at a time, each in a context of its own."""
    turns = asyncio.Semaphore(AT_ONCE)

    async def one(tokens: list[int], read: list[calls.Slot]) -> calls.AnyResult:
        async with turns:
            made = await create(services, process, calls.CreateContext(model))
            try:
                reply = await forward(services, process, calls.Forward(made.context, tokens, slots=read))
            finally:
                await asyncio.shield(release(services, process, calls.ReleaseContext(made.context)))
            return reply.results[0]

    tasks = [asyncio.create_task(one(*each)) for each in zip(texts, slots, strict=True)]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _normalised(rows: Rows) -> Rows:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    lengths[lengths == 0] = 1
    return (rows / lengths).astype(np.float32)
