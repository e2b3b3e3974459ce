"""An encoder behind the HTTP interfaces: vectors, and documents in the order in which they answer a query."""

import urllib.error
from functools import partial

import numpy as np
import ollama
import openai
import pytest

from benchmarks.tiny_encoders import PAIRS, POSITIONS, TEXTS, write_conventions, write_tiny_encoder
from pie_mlx import Engine, EngineSettings
from tests.server.http.openai.conftest import HELLO, MODEL, TinyServer, sent
from tests.server.running import RunningServer

QUERY, DOCUMENTS = PAIRS[0][0], [document for _, document in PAIRS]


@pytest.fixture(scope="module", params=["compares", "scores"])
def kind(request):
    return request.param


@pytest.fixture(scope="module")
def server(kind, tmp_path_factory):
    directory = write_tiny_encoder(tmp_path_factory.mktemp(kind), "bert", labels=kind == "scores", seed=1)
    if kind == "compares":
        write_conventions(directory, pooling="cls", query="what ")
    running = TinyServer(tmp_path_factory.mktemp("home"), name="tiny-bert", directory=directory).start()
    yield running
    running.stop()


@pytest.fixture(scope="module")
def post(server):
    return partial(sent, server)


@pytest.fixture(scope="module")
def client(server):
    with openai.OpenAI(base_url=f"{server.http}/v1", api_key="any", max_retries=0) as connected:
        yield connected


@pytest.fixture(scope="module")
def llama(server):
    with ollama.Client(server.http) as connected:
        yield connected


def test_documents_come_in_the_order_of_their_relevance(post):
    body = {"model": "tiny-bert", "query": QUERY, "documents": [DOCUMENTS[0], {"text": DOCUMENTS[1]}]}
    (answer,) = post("/v1/rerank", body)
    scores = [one["relevance_score"] for one in answer["results"]]
    assert scores == sorted(scores, reverse=True)
    assert {one["index"]: one["document"]["text"] for one in answer["results"]} == dict(enumerate(DOCUMENTS))
    assert answer["usage"]["prompt_tokens"] == answer["usage"]["total_tokens"] > 20
    (best,) = post("/v1/rerank", {**body, "top_n": 1, "return_documents": False})
    assert best["results"] == [{key: answer["results"][0][key] for key in ("index", "relevance_score")}]


def test_it_makes_vectors_unless_it_scores(kind, client, llama):
    if kind == "scores":
        with pytest.raises(openai.BadRequestError, match="cross-encoder"):
            client.embeddings.create(model="tiny-bert", input=TEXTS)
        return
    found = client.embeddings.create(model="tiny-bert", input=TEXTS)
    vectors = np.array([one.embedding for one in found.data])
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    np.testing.assert_allclose(llama.embed("tiny-bert", TEXTS).embeddings, vectors, atol=1e-5)
    asked = client.embeddings.create(model="tiny-bert", input=TEXTS[0], extra_body={"prompt_name": "query"})
    assert asked.usage.prompt_tokens > client.embeddings.create(model="tiny-bert", input=TEXTS[0]).usage.prompt_tokens
    long = "the cat " * 100
    cut = client.embeddings.create(model="tiny-bert", input=long, extra_body={"truncate": True})
    assert [cut.usage.prompt_tokens, llama.embed("tiny-bert", long).prompt_eval_count] == [POSITIONS - 2] * 2
    assert llama.show("tiny-bert").capabilities == ["embedding"]


def test_it_writes_no_text(client):
    with pytest.raises(openai.BadRequestError, match="tiny-bert is an encoder, which writes no text"):
        client.chat.completions.create(model="tiny-bert", messages=HELLO)


@pytest.mark.parametrize("change", [{"documents": []}, {"query": ""}, {"documents": [""]}, {"truncate": "yes"}])
def test_what_cannot_be_ranked_is_refused(post, change):
    with pytest.raises(urllib.error.HTTPError, match="400"):
        post("/v1/rerank", {"model": "tiny-bert", "query": QUERY, "documents": DOCUMENTS, **change})


@pytest.fixture(scope="module")
def beside(tmp_path_factory):
    """A server whose engine has a decoder and, under the name of OpenAI's, an encoder."""
    directory = write_conventions(write_tiny_encoder(tmp_path_factory.mktemp("beside"), "bert"), pooling="cls")
    encoder = EngineSettings(str(directory), name="encoder", total_pages=64, load="lazy", keep_alive_seconds=600.0)
    models, aliases = (
        [EngineSettings(MODEL, name=MODEL, total_pages=64), encoder],
        {"text-embedding-3-small": "encoder"},
    )

    def engine(on_event, resolve):
        return Engine(models, aliases=aliases, on_event=on_event, resolve=resolve)

    running = RunningServer(tmp_path_factory.mktemp("home"), engine=engine, model=MODEL).start()
    yield running
    running.stop()


@pytest.mark.parametrize("name", ["encoder", "text-embedding-3-small"])
def test_one_engine_answers_chats_vectors_and_reranking_by_the_names_of_its_models(beside, name):
    with openai.OpenAI(base_url=f"{beside.http}/v1", api_key="any", max_retries=0) as asked:
        reply = asked.chat.completions.create(model=MODEL, messages=HELLO, max_tokens=2)
        found = asked.embeddings.create(model=name, input=TEXTS)
        assert reply.usage.completion_tokens == 2
        assert found.model == "encoder"
        with pytest.raises(openai.BadRequestError, match="encoder is an encoder, which writes no text"):
            asked.chat.completions.create(model=name, messages=HELLO)
    vectors = np.array([one.embedding for one in found.data])
    (answer,) = sent(beside, "/v1/rerank", {"model": name, "query": TEXTS[0], "documents": TEXTS})
    scores = {one["index"]: one["relevance_score"] for one in answer["results"]}
    np.testing.assert_allclose([scores[place] for place in range(len(TEXTS))], vectors @ vectors[0], atol=1e-5)
