"""Vectors of texts over HTTP are those of the SDK."""

import math
import struct
from base64 import b64decode

import numpy as np
import ollama
import openai
import pytest
from ollama import EmbeddingsResponse, EmbedResponse
from openai.types import CreateEmbeddingResponse

from tests.server.http.openai.conftest import MODEL

TEXTS = ["a red fruit", "an apple is red", "a train"]
PROGRAM = """
from inferlet import Model, runtime


async def main(input):
    model = Model.load(runtime.models()[0])
    tokens = [model.tokenizer().encode(text) for text in input["texts"]]
    return {"vectors": await model.embed(input["texts"]), "tokens": tokens}
"""


@pytest.fixture(scope="module")
def told(server, tmp_path_factory):
    """What the SDK tells of the texts."""
    path = tmp_path_factory.mktemp("program") / "main.py"
    path.write_text(PROGRAM)

    async def run():
        process = await server.server.service.engine.launch(path, {"texts": TEXTS})
        return await process.result()

    return server.call(run())


def close(vectors, others):
    np.testing.assert_allclose(vectors, others, atol=1e-3)


@pytest.fixture
def embed(client):
    """The vectors, and the number of tokens."""

    def create(input, **options):
        answer = client.embeddings.create(**{"model": MODEL, "input": input, "encoding_format": "float", **options})
        assert [one.index for one in answer.data] == list(range(len(answer.data)))
        return [one.embedding for one in answer.data], answer.usage.prompt_tokens

    return create


def test_texts_and_their_tokens_have_the_vectors_of_the_sdk(embed, told):
    for given in (TEXTS, told["tokens"]):
        vectors, count = embed(given)
        close(vectors, told["vectors"])
        assert count == sum(map(len, told["tokens"]))
    for given in (TEXTS[0], told["tokens"][0]):
        close(embed(given)[0], told["vectors"][:1])
    assert all(math.hypot(*vector) == pytest.approx(1, abs=1e-6) for vector in told["vectors"])


def test_answers_are_of_the_published_type_in_both_encodings(post, client, told):
    body = {"model": MODEL, "input": TEXTS, "user": "ada"}
    for encoding in ({}, {"encoding_format": "base64"}):
        (answer,) = post("/v1/embeddings", {**body, **encoding})
        CreateEmbeddingResponse.model_validate(answer if not encoding else {**answer, "data": []}, strict=True)
    packed = [b64decode(one["embedding"]) for one in answer["data"]]
    close([struct.unpack(f"<{len(data) // 4}f", data) for data in packed], told["vectors"])
    close([one.embedding for one in client.embeddings.create(**body).data], told["vectors"])


def test_fewer_dimensions_are_the_first_ones_normalised_again(embed, told):
    for vector, whole in zip(embed(TEXTS, dimensions=8)[0], told["vectors"], strict=True):
        close(vector, np.array(whole[:8]) / math.hypot(*whole[:8]))


@pytest.mark.parametrize(
    ("input", "options", "words"),
    [
        ("", {}, "text 0 has no tokens"),
        ([], {}, "input: give a text"),
        (["a", [5]], {}, "input: give a text"),
        ([[100000]], {}, "outside the vocabulary"),
        (["a"] * 2049, {}, "2,049 inputs, at most 2,048"),
        ("word " * 5000, {}, "room for 4,095"),
        ("a", {"dimensions": 100000}, "dimensions: 100,000"),
    ],
)
def test_what_has_no_vector_is_refused(embed, input, options, words):
    with pytest.raises(openai.BadRequestError, match=words):
        embed(input, **options)


def test_clients_of_ollama_get_the_same(llama, post, told):
    answer = llama.embed(MODEL, TEXTS)
    close(answer.embeddings, told["vectors"])
    assert answer.prompt_eval_count == sum(map(len, told["tokens"]))
    latest = llama.embed(f"{MODEL}:latest", TEXTS[0], keep_alive=3, options={"num_ctx": 9})
    close(latest.embeddings, told["vectors"][:1])
    close(llama.embeddings(MODEL, TEXTS[0]).embedding, told["vectors"][0])
    assert len(llama.embed(MODEL, TEXTS, dimensions=8).embeddings[0]) == 8
    for path, field, kind in (("embed", "input", EmbedResponse), ("embeddings", "prompt", EmbeddingsResponse)):
        (whole,) = post(f"/api/{path}", {"model": MODEL, field: TEXTS[0]})
        kind.model_validate(whole, strict=True)


def test_ollama_embeds_nothing_and_does_not_cut_unasked(llama):
    assert llama.embed(MODEL, "").embeddings == []
    assert llama.embeddings(MODEL, "").embedding == []
    long = "word " * 5000
    with pytest.raises(ollama.ResponseError, match="room for 4,095"):
        llama.embed(MODEL, long, truncate=False)
