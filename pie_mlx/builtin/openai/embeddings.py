"""/v1/embeddings, and Ollama's /api/embed and /api/embeddings: a vector for each text, of length 1."""

import asyncio
import base64
import sys
import time
from array import array
from typing import ClassVar, Literal

import msgspec
from fields import KeepAlive, OfModel, Prompts, Whole
from prompts import load_kept, load_model, prompts_of
from wire import Body, Refusal, read_body, reported

MOST_INPUTS = 2048
_encode = msgspec.json.Encoder().encode


class EmbeddingRequest(Body, kw_only=True):
    """`prompt_name` and `truncate` are those of Text Embeddings Inference."""

    model: str
    input: Prompts
    encoding_format: Literal["float", "base64"] = "float"
    dimensions: Whole | None = None
    prompt_name: str | None = None
    truncate: bool = False


class Embedded(OfModel):
    """The fields of both requests for vectors. No option changes them."""

    HINTS: ClassVar[frozenset[str]] = frozenset({"options"})

    keep_alive: KeepAlive = None


class EmbedRequest(Embedded, kw_only=True):
    input: str | list[str]
    truncate: bool = True
    dimensions: Whole | None = None


class EmbeddingsRequest(Embedded, kw_only=True):
    prompt: str = ""


async def answer(body):
    """/v1/embeddings. Raises Refusal, and the engine's errors."""
    request = await read_body(body, EmbeddingRequest)
    model = await asyncio.to_thread(load_model, request.model)
    texts = prompts_of(request.input, "input")
    check_count(texts, "input")
    found = await model.embed(
        texts,
        prompt_name=request.prompt_name,
        dimensions=request.dimensions,
        truncate=request.truncate,
        normalize=True,
    )
    form = _base64 if request.encoding_format == "base64" else list
    count = sum(found.token_counts)

    def written():
        data = [
            {"object": "embedding", "index": place, "embedding": form(vector)} for place, vector in enumerate(found)
        ]
        usage = {"prompt_tokens": count, "total_tokens": count}
        return _encode({"object": "list", "data": data, "model": model.name, "usage": usage})

    return await answered(request, written, count)


async def embed(body):
    """/api/embed. Texts that are too long are cut at their end, unless `truncate` is false."""
    begun = time.perf_counter_ns()
    request = await read_body(body, EmbedRequest)
    model = await asyncio.to_thread(load_kept, request)
    texts = [request.input] if request.input and isinstance(request.input, str) else request.input or []
    check_count(texts, "input")
    found = await model.embed(texts, dimensions=request.dimensions, truncate=request.truncate, normalize=True)
    count = sum(found.token_counts)
    answer = {"model": model.name, "embeddings": list(found), "load_duration": 0, "prompt_eval_count": count}
    answer["total_duration"] = time.perf_counter_ns() - begun
    return await answered(request, lambda: _encode(answer), count)


async def embed_one(body):
    """/api/embeddings, the older form of the same for one text."""
    request = await read_body(body, EmbeddingsRequest)
    model = await asyncio.to_thread(load_kept, request)
    found = await model.embed([request.prompt] if request.prompt else [], truncate=True, normalize=True)
    vector = next(iter(found), [])
    return await answered(request, lambda: _encode({"embedding": vector}), sum(found.token_counts))


def check_count(texts, param):
    """Raises Refusal for more than are read at once."""
    if len(texts) > MOST_INPUTS:
        raise Refusal(400, f"{param}: {len(texts):,} inputs, at most {MOST_INPUTS:,} at once", param=param)


def _base64(vector):
    """Little-endian float32, in base64."""
    values = array("f", vector)
    if sys.byteorder == "big":
        values.byteswap()
    return base64.b64encode(values).decode()


async def answered(request, written, count):
    """The answer that `written` gives, on a thread: it may be long."""
    headers = {**reported(request.left_out), "content-type": "application/json"}
    result = {"finish_reasons": [], "prompt_tokens": count, "cached_tokens": 0, "completion_tokens": 0}
    return {"headers": headers, "body": await asyncio.to_thread(written), "result": result}
