"""What the metrics tell of requests, as Prometheus reads them."""

import asyncio
import json
import urllib.request
from functools import partial

import openai
import pytest
from prometheus_client.parser import text_string_to_metric_families

from pie_mlx.events import ProcessFailed, ProcessReturned
from tests.server.http.openai.conftest import MODEL
from tests.server.http.openai.test_requests import send

pytestmark = pytest.mark.timeout(60)
CHAT = {"endpoint": "/v1/chat/completions", "model": MODEL}


def samples(server):
    """All values by name and labels."""
    server.seen()
    with urllib.request.urlopen(f"{server.http}/metrics") as answer:
        families = text_string_to_metric_families(answer.read().decode())
        return {
            (sample.name, frozenset(sample.labels.items())): sample.value
            for family in families
            for sample in family.samples
        }


@pytest.fixture
def grown(server):
    """How much a value has grown since the test began."""
    before = samples(server)

    def growth(name, **labels):
        key = (name, frozenset(labels.items()))
        return samples(server).get(key, 0) - before.get(key, 0)

    return growth


def test_an_answer_is_timed(ask, grown):
    answer = ask(max_tokens=8, stop=None)
    assert grown("pie_processes_returned_total") == 1
    assert grown("pie_request_queue_seconds_count", **CHAT) == 1
    first, whole = (grown(f"pie_{name}_seconds_sum", **CHAT) for name in ("time_to_first_token", "request_duration"))
    assert 0 < first < whole
    if answer.usage.completion_tokens > 1:
        assert grown("pie_time_per_output_token_seconds_count", **CHAT) == 1


def test_tokens_of_prompts_and_replies_are_counted_apart(ask, grown):
    usage = ask(max_tokens=8).usage
    assert grown("pie_prompt_tokens_total", **CHAT) == usage.prompt_tokens
    assert grown("pie_prompt_cached_tokens_total", **CHAT) == usage.prompt_tokens_details.cached_tokens
    assert grown("pie_generated_tokens_total", **CHAT) == usage.completion_tokens


def test_requests_are_counted_by_how_they_ended(ask, grown):
    ask(max_tokens=1)
    list(ask(max_tokens=1, stream=True))
    assert grown("pie_http_requests_total", **CHAT, status="200", finish_reason="length") == 2


def test_a_refused_request_has_not_returned(ask, grown):
    with pytest.raises(openai.BadRequestError):
        ask(temperature=3)
    assert grown("pie_http_requests_total", **CHAT, status="400", finish_reason="") == 1
    assert (grown("pie_processes_returned_total"), grown("pie_processes_refused_total")) == (0, 1)


async def test_a_client_that_leaves_is_no_failure(server, grown):
    body = {"model": MODEL, "prompt": "a", "max_tokens": 4000, "temperature": 2, "seed": 1, "stream": True}
    reader, writer = await send(server, b"POST", b"/v1/completions", json.dumps(body).encode())
    await reader.readuntil(b"data: ")
    writer.transport.abort()
    await asyncio.to_thread(partial(server.wait_for, ProcessFailed | ProcessReturned))
    left = {"endpoint": "/v1/completions", "model": MODEL, "status": "499", "finish_reason": ""}
    assert await asyncio.to_thread(partial(grown, "pie_http_requests_total", **left)) == 1
    assert await asyncio.to_thread(grown, "pie_processes_failed_total") == 0
    assert await asyncio.to_thread(grown, "pie_processes_cancelled_total") == 1
