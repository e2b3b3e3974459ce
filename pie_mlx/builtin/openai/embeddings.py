"""/v1/embeddings, and Ollama's /api/embed and /api/embeddings: a vector for each text.

It is the mean of the final hidden states of the text's tokens, normalised.
"""

import asyncio
import base64
import math
import sys
import time
from array import array
from typing import ClassVar, Literal

import msgspec
from fields import OfModel, Prompts, Whole
from prompts import check_fits, encoded, load_model, prompts_of
from wire import Body, Refusal, read_body, reported

MOST_INPUTS = 2048
_encode = msgspec.json.Encoder().encode


class EmbeddingRequest(Body, kw_only=True):
    model: str
    input: Prompts
    encoding_format: Literal["float", "base64"] = "float"
    dimensions: Whole | None = None


class Embedded(OfModel):
    """The fields of both requests for vectors. No option changes them."""

    HINTS: ClassVar[frozenset[str]] = frozenset({"keep_alive", "options"})


class EmbedRequest(Embedded, kw_only=True):
    input: str | list[str]
    truncate: bool = True
    dimensions: Whole | None = None


class EmbeddingsRequest(Embedded, kw_only=True):
    prompt: str = ""


async def answer(body):
    """/v1/embeddings. Raises Refusal, and the engine's errors."""
    request = await read_body(body, EmbeddingRequest)
    model = load_model(request.model)
    inputs = await _tokens(model, prompts_of(request.input, "input"), "input")
    vectors = await _vectors(model, inputs, request.dimensions)
    form = _base64 if request.encoding_format == "base64" else list
    count = sum(map(len, inputs))

    def written():
        data = [
            {"object": "embedding", "index": place, "embedding": form(vector)} for place, vector in enumerate(vectors)
        ]
        usage = {"prompt_tokens": count, "total_tokens": count}
        return _encode({"object": "list", "data": data, "model": model.name, "usage": usage})

    return await _answered(request, written, count)


async def embed(body):
    """/api/embed. Texts that are too long are cut at their end, unless `truncate` is false."""
    begun = time.perf_counter_ns()
    request = await read_body(body, EmbedRequest)
    model = load_model(request.model_name)
    texts = [request.input] if request.input and isinstance(request.input, str) else request.input or []
    longest = model.info.maximum_positions - 1 if request.truncate else None
    inputs = await _tokens(model, texts, "input", longest)
    vectors = await _vectors(model, inputs, request.dimensions)
    count = sum(map(len, inputs))
    answer = {"model": model.name, "embeddings": vectors, "load_duration": 0, "prompt_eval_count": count}
    answer["total_duration"] = time.perf_counter_ns() - begun
    return await _answered(request, lambda: _encode(answer), count)


async def embed_one(body):
    """/api/embeddings, the older form of the same for one text."""
    request = await read_body(body, EmbeddingsRequest)
    model = load_model(request.model_name)
    texts = [request.prompt] if request.prompt else []
    inputs = await _tokens(model, texts, "prompt", model.info.maximum_positions - 1)
    vector = next(iter(await model.embed(inputs)), [])
    return await _answered(request, lambda: _encode({"embedding": vector}), sum(map(len, inputs)))


async def _tokens(model, inputs, param, longest=None):
    """The tokens of each text, of `longest` only the first; tokens stay what they are. Raises Refusal."""
    if len(inputs) > MOST_INPUTS:
        raise Refusal(400, f"{param}: {len(inputs):,} inputs, at most {MOST_INPUTS:,} at once", param=param)
    if not all(inputs):
        raise Refusal(400, f"{param}: a text without tokens: leave empty ones out", param=param)

    def read():
        found = []
        for one in inputs:
            tokens = encoded(model, one, param, longest, begins=False) if isinstance(one, str) else one
            check_fits(model, len(tokens), param)
            found.append(tokens)
        return found

    return await asyncio.to_thread(read)


async def _vectors(model, inputs, dimensions):
    """The vectors, cut to their first `dimensions` and normalised again. Raises Refusal for more than there are."""
    vectors = await model.embed(inputs)
    if dimensions is None or not vectors:
        return vectors
    if dimensions > (width := len(vectors[0])):
        raise Refusal(400, f"dimensions: {dimensions}, this model's vectors have {width}", param="dimensions")
    return [_shortened(vector, dimensions) for vector in vectors]


def _shortened(vector, dimensions):
    kept = vector[:dimensions]
    length = math.hypot(*kept)
    return [value / length for value in kept] if length else kept


def _base64(vector):
    """Little-endian float32, in base64."""
    values = array("f", vector)
    if sys.byteorder == "big":
        values.byteswap()
    return base64.b64encode(values).decode()


async def _answered(request, written, count):
    headers = {**reported(request.left_out), "content-type": "application/json"}
    result = {"finish_reasons": [], "prompt_tokens": count, "cached_tokens": 0, "completion_tokens": 0}
    return {"headers": headers, "body": await asyncio.to_thread(written), "result": result}
