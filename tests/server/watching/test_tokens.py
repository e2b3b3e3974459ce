"""Tokens of a process: only for who watches it, may see its output, and where its program shows them."""

import json

import pytest

from tests.server.programs import PLAYER
from tests.server.speaking import speak

WAITS = {"do": "generate", "waits": True}
SHY = '[package]\nname = "shy"\nversion = "0.1.0"\n[runtime]\nshow_tokens = false\n'


async def seen(speaker):
    """The tokens that a watcher of events was sent, by process, until a process ends."""
    found = {}
    while (event := await speaker.event())["kind"] != "process_returned":
        if event["kind"] == "tokens_drawn":
            told = json.loads(event["data"])
            found.setdefault(told["process"], []).extend(told["tokens"])
    return found


async def begun(speaker, **options):
    """A process that runs, and waits for a message."""
    process = await speaker.launch(WAITS, capture_outputs=False, **options)
    while (await speaker.query("processes"))["processes"][-1]["reason"] == "":
        pass
    return process


def watchers(server, process):
    return server.call(
        server.server.service.engine.consult(lambda services: len(services.processes[process].token_watchers))
    )


@pytest.mark.timeout(30)
async def test_only_who_watches_a_process_gets_its_tokens(server):
    async with await speak(server, "ada") as ada, await speak(server, "ada") as other:
        process = await begun(ada)
        for watcher in (ada, other):
            await watcher.json("watch_events")
        assert await ada.ask("watch_tokens", process_id=process) == (True, "Tokens are sent among the events")
        await ada.send(type="signal_process", process_id=process, message="go")
        told, told_other = await seen(ada), await seen(other)
    assert list(told) == [process]
    assert len(told[process]) == 4
    assert all(token["likely"] and 0 <= token["probability"] <= 1 for token in told[process])
    assert told_other == {}


@pytest.mark.timeout(30)
async def test_a_connection_watches_one_process_at_a_time_until_it_ends(server):
    async with await speak(server, "ada") as ada:
        async with await speak(server, unix=True) as root:
            first, second = await begun(ada), await begun(ada)
            for process in (first, second):
                assert (await root.ask("watch_tokens", process_id=process))[0]
            assert (watchers(server, first), watchers(server, second)) == (0, 1)
            assert await root.ask("watch_tokens", process_id="") == (True, "Tokens are no longer sent")
            assert watchers(server, second) == 0
            assert (await root.ask("watch_tokens", process_id=first))[0]
        while watchers(server, first):
            assert (await ada.ask("ping"))[0]
        for process in (first, second):
            await ada.ask("terminate_process", process_id=process)


@pytest.mark.timeout(30)
async def test_who_may_not_see_the_output_of_a_process_may_not_see_its_tokens(server):
    server.server.service.programs.install(PLAYER.encode(), SHY)
    async with await speak(server, "ada") as ada, await speak(server, "bob") as bob:
        open_one, shy = await begun(ada), await begun(ada, inferlet="shy")
        assert (await bob.ask("watch_tokens", process_id=open_one))[0] is False
        ok, refusal = await ada.ask("watch_tokens", process_id=shy)
        assert (ok, refusal) == (False, f"process {shy}: its program does not show its tokens")
        for process in (open_one, shy):
            await ada.ask("terminate_process", process_id=process)
