"""Models by their names, on every interface and for the command line."""

import asyncio
import json
import re
import threading
import time
import urllib.error
import urllib.request
from datetime import UTC, datetime

import anthropic
import ollama
import openai
import pytest

from pie_mlx import Engine, EngineSettings
from pie_mlx.cli.engine.reuse import DUMMY, served_source
from pie_mlx.client import connect
from pie_mlx.engine.start import start_services
from pie_mlx.errors import AuthError, ModelNotFoundError
from tests.server.running import RunningServer

HELLO = [{"role": "user", "content": "hi"}]
ASKED = {
    "/v1/chat/completions": {"messages": HELLO, "max_tokens": 1},
    "/v1/completions": {"prompt": "hi", "max_tokens": 1},
    "/v1/responses": {"input": "hi", "max_output_tokens": 1},
    "/v1/messages": {"messages": HELLO, "max_tokens": 1},
    "/api/chat": {"messages": HELLO, "stream": False, "options": {"num_predict": 1}},
    "/api/generate": {"prompt": "hi", "stream": False, "options": {"num_predict": 1}},
}


def two_models(on_event, resolve):
    models = [
        EngineSettings(dummy=True, name="main", total_pages=64, seed=1),
        EngineSettings("pie-tiny", name="router", total_pages=64, seed=1, load="lazy", keep_alive_seconds=600.0),
    ]
    return Engine(models, aliases={"gpt-4o-mini": "router"}, on_event=on_event, resolve=resolve)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    sources = {"source": DUMMY, "others": {"router": served_source(EngineSettings("pie-tiny"))}}
    running = RunningServer(tmp_path_factory.mktemp("models"), engine=two_models, model="main", **sources).start()
    yield running
    running.stop()


def fetch(server, path, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(server.http + path, data, {"content-type": "application/json"})
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())


def metrics_of(server):
    with urllib.request.urlopen(f"{server.http}/metrics") as answer:
        return answer.read().decode().splitlines()


async def work(server, act):
    async with await connect(server.url, token=server.server.token) as client:
        return await act(client)


async def states(server):
    rows = await work(server, lambda client: client.models.list())
    return {row["name"]: row["state"] for row in rows}


async def test_listing_models_loads_none_and_says_which_are_in_memory(server):
    await work(server, lambda client: client.models.unload("router"))
    _, listed = fetch(server, "/v1/models")
    assert [(model["id"], model["state"]) for model in listed["data"]] == [("main", "loaded"), ("router", "unloaded")]
    assert [model["name"] for model in fetch(server, "/api/tags")[1]["models"]] == ["main", "router"]
    assert [model["name"] for model in fetch(server, "/api/ps")[1]["models"]] == ["main"]
    assert await states(server) == {"main": "loaded", "router": "unloaded"}


async def seconds_left(server):
    """How long the router stays in memory if nothing uses it."""
    rows = await work(server, lambda client: client.models.list())
    return next(row["expires_in_seconds"] for row in rows if row["name"] == "router")


@pytest.mark.parametrize("path", ["/v1/models", "/v1/models/router", "/v1/models/gpt-4o-mini", "/api/ps", "/api/tags"])
async def test_a_listing_neither_loads_a_model_nor_keeps_it_in_memory(server, path):
    await work(server, lambda client: client.models.unload("router"))
    fetch(server, path)
    assert (await states(server))["router"] == "unloaded"
    await work(server, lambda client: client.models.load("router"))
    before, begun = await seconds_left(server), time.monotonic()
    fetch(server, path)
    elapsed = time.monotonic() - begun
    assert await seconds_left(server) <= before - elapsed


async def test_a_model_that_leaves_is_listed_as_such_and_not_loaded_again(server, monkeypatch):
    leaving, gone = threading.Event(), threading.Event()

    async def free(device):
        leaving.set()
        await asyncio.to_thread(gone.wait)

    monkeypatch.setattr("pie_mlx.engine.models.models.free_memory", free)
    await work(server, lambda client: client.models.load("router"))
    unloading = asyncio.create_task(work(server, lambda client: client.models.unload("router")))
    await asyncio.to_thread(leaving.wait)
    _, listed = await asyncio.to_thread(fetch, server, "/v1/models")
    _, running = await asyncio.to_thread(fetch, server, "/api/ps")
    gone.set()
    await unloading
    assert [model["state"] for model in listed["data"]] == ["loaded", "unloading"]
    assert [model["name"] for model in running["models"]] == ["main"]
    assert (await states(server))["router"] == "unloaded"


async def test_ollamas_clients_are_told_when_a_model_leaves(server):
    await work(server, lambda client: client.models.load("router"))
    main, router = fetch(server, "/api/ps")[1]["models"]
    assert main["expires_at"].startswith("9999")
    assert 0 < (datetime.fromisoformat(router["expires_at"]) - datetime.now(UTC)).total_seconds() <= 600
    fetch(server, "/api/generate", {"model": "router", "keep_alive": 1e15, "prompt": ""})
    assert fetch(server, "/api/ps")[1]["models"][1]["expires_at"].startswith("9999")


@pytest.mark.parametrize("path", ASKED)
@pytest.mark.parametrize("model", ["main", "router", "gpt-4o-mini"])
def test_a_request_is_answered_by_the_model_that_it_names(server, path, model):
    status, answer = fetch(server, path, {"model": model, **ASKED[path]})
    assert (status, answer["model"]) == (200, model)


@pytest.mark.parametrize("path", ASKED)
def test_an_unknown_name_is_refused_with_the_list(server, path):
    status, answer = fetch(server, path, {"model": "gpt-5", **ASKED[path]})
    assert status == 404
    assert "there is main, router" in json.dumps(answer)


async def test_a_client_loads_a_model_and_gives_its_memory_back(server):
    await work(server, lambda client: client.models.load("gpt-4o-mini"))
    assert (await states(server))["router"] == "loaded"
    await work(server, lambda client: client.models.unload("router"))
    assert (await states(server))["router"] == "unloaded"


async def test_each_model_in_memory_has_pages_and_a_price_of_its_own(server):
    await work(server, lambda client: client.models.load("router"))
    rows = await work(server, lambda client: client.models.list())
    assert [(row["pages"]["total"], row["price"]) for row in rows] == [(64, 0.0), (64, 0.0)]
    status = await work(server, lambda client: client.query("model_status"))
    assert (status["main.kv_pages_total"], status["router.kv_pages_total"]) == (64, 64)
    figures = metrics_of(server)
    assert 'pie_model_clearing_price{model="router"} 0.0' in figures
    assert 'pie_model_pages{model="router",state="free"} 64.0' in figures
    await work(server, lambda client: client.models.unload("router"))
    _, router = await work(server, lambda client: client.models.list())
    assert (router["pages"], router["price"]) == (None, None)


async def test_a_model_that_is_not_there_cannot_be_loaded(server):
    with pytest.raises(ModelNotFoundError):
        await work(server, lambda client: client.models.load("gpt-5"))


@pytest.mark.parametrize(("path", "asked"), [("generate", {"stream": False}), ("embed", {"input": "hi"})])
async def test_ollamas_keep_alive_says_when_the_model_leaves(server, path, asked):
    await work(server, lambda client: client.models.unload("router"))
    fetch(server, f"/api/{path}", {"model": "router", "keep_alive": "10s", **asked})
    (router,) = [row for row in await work(server, lambda client: client.models.list()) if row["name"] == "router"]
    assert 0 < router["expires_in_seconds"] <= 10


def lines_of(server, path, body):
    request = urllib.request.Request(server.http + path, json.dumps(body).encode())
    with urllib.request.urlopen(request) as answer:
        return [line for line in answer.read().decode().splitlines() if line]


@pytest.mark.parametrize("path", ASKED)
async def test_a_stream_says_how_much_of_its_model_is_there_while_that_is_loaded(server, path):
    await work(server, lambda client: client.models.unload("router"))
    first, *others = lines_of(server, path, {**ASKED[path], "model": "router", "stream": True})
    if path.startswith("/api/"):
        assert 0 <= json.loads(first)["loading"] <= 1
        assert json.loads(others[-1])["done"]
    else:
        assert re.fullmatch(r": loading router \d+ %", first)
        assert any(line.startswith("data: ") for line in others)


@pytest.fixture
def held(server, monkeypatch):
    """Two events: a model begins to be loaded, and it may go on."""
    begun, going_on = threading.Event(), threading.Event()

    async def start(*arguments):
        begun.set()
        await asyncio.to_thread(going_on.wait)
        return await start_services(*arguments)

    monkeypatch.setattr("pie_mlx.engine.models.models.start_services", start)
    yield begun, going_on
    going_on.set()


LOADING = {
    "/v1/embeddings": {"input": "hi"},
    "/v1/rerank": {"query": "hi", "documents": ["ho"]},
    "/api/embed": {"input": "hi"},
    "/api/embeddings": {"prompt": "hi"},
    "/api/show": {},
    "/api/chat": {"messages": []},
    "/api/generate": {"prompt": ""},
}


@pytest.mark.parametrize("path", LOADING)
async def test_other_requests_are_answered_while_a_model_is_loaded_for_one(server, held, path):
    await work(server, lambda client: client.models.unload("router"))
    begun, going_on = held
    one = asyncio.create_task(asyncio.to_thread(fetch, server, path, {"model": "router", **LOADING[path]}))
    await asyncio.to_thread(begun.wait)
    status, _ = await asyncio.to_thread(fetch, server, "/v1/completions", {"model": "main", "prompt": "hi"})
    assert status == 200
    assert not one.done()
    going_on.set()
    await one


ASK = {"model": "gpt-4o-mini", "messages": HELLO, "stream": True}


def chat_of_openai(url):
    with openai.OpenAI(base_url=f"{url}/v1", api_key="any") as client:
        return list(client.chat.completions.create(**ASK))


def response_of_openai(url):
    with openai.OpenAI(base_url=f"{url}/v1", api_key="any") as client:
        return list(client.responses.create(model="gpt-4o-mini", input="hi", stream=True))


def message_of_anthropic(url):
    with anthropic.Anthropic(base_url=url, api_key="any") as client:
        return list(client.messages.create(max_tokens=8, **ASK))


def chat_of_ollama(url):
    with ollama.Client(url) as client:
        return list(client.chat(**ASK))


@pytest.mark.parametrize("read", [chat_of_openai, response_of_openai, message_of_anthropic, chat_of_ollama])
async def test_official_clients_read_a_stream_whose_model_is_loaded_for_it(server, read):
    await work(server, lambda client: client.models.unload("router"))
    assert len(read(server.http)) > 2


async def test_who_is_no_administrator_loads_no_models(server):
    async with await connect(server.url, username="ada") as client:
        with pytest.raises(AuthError):
            await client.models.unload("router")
