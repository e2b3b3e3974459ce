"""The waits for tokens that a monitor shows are those of the metrics, whenever it connected."""

import asyncio
import json
import sys
import urllib.request

import pytest
from prometheus_client.parser import text_string_to_metric_families

from pie_mlx.client import connect
from pie_mlx.gpu_meter.gpu_reading import NO_GPU
from pie_mlx.tui.inbox import Inbox
from pie_mlx.tui.model.facts import NO_FACTS
from pie_mlx.tui.model.views.summary import summary
from pie_mlx.tui.source.live import LiveSource
from pie_mlx.tui.source.live_facts import ask_facts
from tests.server.running import RunningServer

REQUESTS, TOKENS = 3, 12


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    running = RunningServer(tmp_path_factory.mktemp("home")).start()
    yield running
    running.stop()


def ask(server, number):
    body = {"model": server.server.service.model, "prompt": f"Once {number} " * 40, "max_tokens": TOKENS}
    request = urllib.request.Request(
        f"{server.http.removesuffix('/')}/v1/completions",
        json.dumps(body).encode(),
        {"content-type": "application/json"},
    )
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["usage"]["completion_tokens"]


def metrics(server):
    """Count, sum, and the bounds of the buckets that hold something, of each histogram."""
    with urllib.request.urlopen(f"{server.http.removesuffix('/')}/metrics") as answer:
        samples = [one for family in text_string_to_metric_families(answer.read().decode()) for one in family.samples]
    return {
        kind: (value(samples, f"{name}_count"), value(samples, f"{name}_sum"))
        for kind, name in (
            ("first_token", "pie_time_to_first_token_seconds"),
            ("between_tokens", "pie_time_per_output_token_seconds"),
        )
    }


def value(samples, name):
    return sum(sample.value for sample in samples if sample.name == name)


async def test_the_metrics_and_a_monitor_that_came_late_agree_about_waits(server):
    drawn = [await asyncio.to_thread(ask, server, number) for number in range(REQUESTS)]
    counted = await asyncio.to_thread(metrics, server)

    async def open_client():
        return await connect(server.url, username="local")

    inbox = Inbox()
    await LiveSource(server.url, open_client).feed_for(inbox, 0.2)
    state = inbox.state()
    told, window = summary(state).latency[0], state.recent.window(state.seconds, 1)
    assert counted["first_token"][0] == told.first_token.count == REQUESTS
    assert told.between_tokens.count == sum(drawn) - REQUESTS
    replies = [row for row in summary(state).requests if row.tokens]
    assert sum(row.first_token for row in replies) == pytest.approx(counted["first_token"][1])
    assert sum(row.per_token for row in replies if row.tokens > 1) == pytest.approx(counted["between_tokens"][1])
    assert sum(window.first.values()) == REQUESTS


async def test_a_snapshot_has_the_figures_for_those_who_may_see_all_events(server):
    await asyncio.to_thread(ask, server, REQUESTS)
    found = {}
    for name, token in (("all", server.server.service.authenticator.token), ("own", None)):
        async with await connect(server.url, username="local", token=token) as client:
            watch = await client.watch()
            slots = watch.snapshot["state"]["recent"]["slots"]
            found[name] = sum(sum(slot["first"].values()) for slot in slots)
    counted = await asyncio.to_thread(metrics, server)
    assert found == {"all": counted["first_token"][0], "own": 0}


async def test_a_monitor_asks_for_the_engine_s_machine(server):
    async with await connect(server.url, username="local") as client:
        machine = (await ask_facts(client, NO_FACTS)).machine
    assert machine is not None
    assert machine.memory_bytes >= machine.engine_bytes > 0
    assert machine.gpu == NO_GPU or sys.platform == "darwin"
