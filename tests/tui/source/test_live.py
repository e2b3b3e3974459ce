"""The live source against a real server, over a real socket."""

import asyncio
import contextlib
import time
from types import SimpleNamespace

import msgspec
import pytest

from pie_mlx.client import EngineEvent, Watch, connect
from pie_mlx.errors import AuthError, InvalidArgumentError, PieError, SessionClosedError
from pie_mlx.events import McpTool, ProcessLaunched, WaitChanged
from pie_mlx.server.watching.feed import KEPT
from pie_mlx.tui.inbox import Inbox
from pie_mlx.tui.source.live import LiveSource
from pie_mlx.tui.source.live_facts import manifest_parameters
from tests.server.running import RunningServer, write_program
from tests.tui.harness import monitor, press, screen_text
from tests.tui.stream import LAUNCHED, tick

LISTENER = """
from inferlet import Context, Model, Sampler, runtime, session

async def main(input):
    with Context(Model.load(runtime.models()[0])) as context:
        context.user(input["greeting"])
        await context.flush()
        while True:
            text = await session.receive()
            if text == "write":
                await context.generate(Sampler.argmax(), max_tokens=3, stop=[]).collect_tokens()
            session.send("heard " + text)
"""
BRIEF = """
from inferlet import Context, Model, runtime

async def main(input):
    with Context(Model.load(runtime.models()[0])) as context:
        context.user("hello")
        await context.flush()
    return "done"
"""
PARAMETERS = '[parameters]\ngreeting = { type = "string", default = "hello", description = "What to say" }\n'


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    running = RunningServer(tmp_path_factory.mktemp("home")).start()
    program, manifest = write_program(tmp_path_factory.mktemp("listener"), "listener", LISTENER, more=PARAMETERS)
    running.server.service.programs.install(program.read_bytes(), manifest.read_text())
    yield running
    running.stop()


@contextlib.asynccontextmanager
async def following(server, clients=None):
    """A live source that follows, and its inbox; `clients` gets its connections."""

    async def open_client():
        client = await connect(server.url, username="ada")
        if clients is not None:
            clients.append(client)
        return client

    source, inbox = LiveSource(server.url, open_client, retry_seconds=(0.01,)), Inbox()
    task = asyncio.create_task(source.run(inbox))
    try:
        await until(lambda: inbox.connection.state == "live")
        yield source, inbox
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def until(is_so):
    """Wait for something another thread or process does."""
    async with asyncio.timeout(30):
        while not is_so():  # noqa: ASYNC110 - nothing of ours is told when it happens
            await asyncio.sleep(0.005)


async def test_what_runs_on_a_server_is_seen_and_can_be_steered(server):
    async with following(server) as (source, inbox):
        process = await source.launch("listener", {"greeting": "hi"}, 5000)
        await until(lambda: any(context.passes for context in inbox.state().contexts.values()))
        row = inbox.state().processes[process]
        assert (row.username, row.program, row.token_budget) == ("ada", "listener@0.1.0", 5000)
        await source.send(process, "there")
        await until(lambda: inbox.state().processes[process].output)
        assert inbox.state().processes[process].output[-1].text.startswith("heard there")
        await source.set_bid(process, 0.25)
        await until(lambda: {context.bid for context in inbox.state().contexts.values()} == {0.25})
        await source.suspend(process)
        await until(lambda: {context.activity for context in inbox.state().contexts.values()} == {"suspended"})
        await source.attach(process)
        await source.kill(process)
        await until(lambda: not inbox.state().processes[process].lives)
        assert inbox.state().processes[process].outcome == "killed"


async def test_tokens_of_a_watched_program_arrive_also_after_the_connection_was_lost(server):
    clients = []
    async with following(server, clients) as (source, inbox):
        process = await source.launch("listener", {"greeting": "hi"}, 5000)
        await until(lambda: inbox.known.waits.get(process) or any(inbox.state().contexts))
        await source.watch_tokens(process)
        await clients[0].close()
        await until(lambda: inbox.connection.state == "reconnecting")
        await until(lambda: inbox.connection.state == "live")
        await source.send(process, "write")
        await until(lambda: any(stream.end == 3 for stream in inbox.state().streams.values()))
        await source.kill(process)


async def test_programs_and_connections_are_asked_for(server):
    async with following(server) as (_, inbox):
        await until(lambda: inbox.known.programs)
        program = next(program for program in inbox.known.programs if program.name == "listener")
        assert not program.answers_requests
        assert next(program for program in inbox.known.programs if program.name == "openai").answers_requests
        (parameter,) = program.parameters
        assert (parameter.name, parameter.default, parameter.description) == ("greeting", "hello", "What to say")
        assert "ada" in {connection.username for connection in inbox.known.connections}


async def test_a_server_that_went_away_and_came_back_is_found_again(tmp_path):
    first = RunningServer(tmp_path).start()
    async with following(first) as (source, inbox):
        await asyncio.to_thread(first.stop)
        await until(lambda: inbox.connection.state == "reconnecting")
        assert "trying again" in inbox.connection.text
        assert source.refusal
        with pytest.raises(InvalidArgumentError, match="no connection"):
            await source.kill("p")
        second = RunningServer(tmp_path)
        await asyncio.to_thread(second.start)
        first.server = second.server
        await until(lambda: inbox.connection.state == "live")
        assert source.refusal == ""
        await asyncio.to_thread(second.stop)


@pytest.mark.parametrize(
    "error", [AuthError("the engine asks for a key of user 'ada'"), SessionClosedError("no engine is running")]
)
async def test_no_server_and_a_wrong_key_are_one_line_and_tried_again(error):
    attempts = []

    async def refused():
        attempts.append(1)
        raise error

    source = LiveSource("x", refused, retry_seconds=(0.0,))
    inbox = Inbox()
    task = asyncio.create_task(source.run(inbox))
    await until(lambda: len(attempts) > 2)
    task.cancel()
    assert (inbox.connection.state, inbox.connection.text) == ("reconnecting", f"{error}; trying again")


def frame(sequence, event, seconds=100.0):
    return EngineEvent(sequence, seconds, event.kind, msgspec.json.encode(event).decode())


def watch(reached, *frames, state=None):
    async def events():
        for each in frames:
            yield each

    return Watch({"sequence": reached, "state": state or {}}, events())


async def followed(given):
    @contextlib.asynccontextmanager
    async def connected():
        async def watch(since):
            assert since == 0
            return given

        async def query(subject):
            raise InvalidArgumentError(f"Unknown query subject '{subject}'")

        yield SimpleNamespace(watch=watch, query=query)

    async def open_client():
        return connected()

    inbox = Inbox()
    await LiveSource("x", open_client, clock=lambda: 500.0).feed_for(inbox, 5.0)
    return inbox.state()


async def test_a_server_that_has_kept_everything_is_told_from_its_start():
    state = await followed(watch(2, frame(1, LAUNCHED), frame(2, tick())))
    assert (list(state.processes), state.ticks) == (["p"], 1)


async def test_a_look_that_ends_before_any_event_has_come_tells_the_snapshot():
    state = await followed(watch(9, state={"model": "m", "totals": {"ticks": 9, "tokens": 70}}))
    assert (state.ticks, state.tokens) == (9, 70)


async def test_what_a_server_has_not_kept_comes_from_its_snapshot():
    told = {
        "model": "pie-tiny",
        "processes": [
            {
                "id": "q",
                "username": "linus",
                "program": "x@1.0.0",
                "elapsed_secs": 30,
                "state": "running",
                "input": "{}",
            }
        ],
        "contexts": [
            {"context": 6, "process": "q", "pages": 2, "resident": True, "bid": 0.5, "reason": "", "account": 4},
            {"context": 7, "process": "q", "pages": 3, "resident": True, "bid": 0.5, "reason": "", "account": 4}
            | {"parent": 6, "tokens": 70, "held": {"context": 7, "own": 1, "shared": 2, "effective": 2.0}},
        ],
        "accounts": [{"account": 4, "endowment": 8.0, "balance": 3.5, "dividend": 0.0, "defaulted": False}],
        "mcp": [
            {"name": "files", "transport": "stdio", "running": True, "starts": 1, "calls": 2, "failures": 1}
            | {"tools": [{"name": "read", "description": "Read a file"}]}
        ],
        "page_size": 32,
        "market": {"clearing_price": 0.25},
        "pages": {"total": 64, "used": 3, "shared": 0, "cached": 1},
    }
    gap = EngineEvent(90, 100.0, "gap", '{"missed":90}')
    state = await followed(watch(91, gap, frame(91, tick(1)), frame(92, tick(2), 501.0), state=told))
    assert (list(state.processes), state.price, state.pages.total, state.ticks) == (["q"], 0.25, 64, 2)
    assert (state.pool.page_size, state.contexts[7].own_pages, state.contexts[7].shared_pages) == (32, 1, 2)
    assert (state.contexts[7].parent, state.contexts[7].account, state.contexts[6].held_tokens) == (6, 4, 64)
    assert (state.accounts[4].balance, state.processes["q"].account) == (3.5, 4)
    assert (state.mcp["files"].state, state.mcp["files"].errors) == ("ready", 1)
    assert state.mcp["files"].tools == (McpTool("read", "Read a file"),)
    assert state.processes["q"].launched_seconds == 470.0


async def test_totals_and_who_ended_come_with_the_snapshot_so_that_nothing_was_missed():
    told = {
        "model": "pie-tiny",
        "page_size": 16,
        "totals": {"policy": "market", "ticks": 800, "tokens": 9000, "treasury": 2.5},
        "processes": [{"id": "q", "username": "linus", "program": "x@1.0.0", "state": "queued"}],
        "ran": [
            {"id": "a", "username": "ada", "program": "x@1.0.0", "launched_seconds_ago": 9.0, "ended_seconds_ago": 4.0}
            | {"tokens": 70, "passes": 3, "result": "done"},
            {"id": "b", "username": "ada", "program": "x@1.0.0", "launched_seconds_ago": 8.0, "ended_seconds_ago": 2.0}
            | {"result": "no", "error_type": "ValueError"},
            {"id": "c", "username": "ada", "program": "x@1.0.0", "launched_seconds_ago": 7.0, "tokens": 5},
        ],
    }
    gap = EngineEvent(90, 100.0, "gap", '{"missed":90}')
    state = await followed(watch(91, gap, frame(91, tick(1)), state=told))
    assert (state.events, state.lost, state.ticks, state.tokens, state.pool.treasury) == (91, 0, 800, 9000, 2.5)
    assert state.engine.policy == "market"
    assert list(state.processes) == ["a", "b", "c", "q"]
    outcomes = [(process.outcome, process.result) for process in state.processes.values()]
    assert outcomes == [("returned", "done"), ("failed", "ValueError: no"), ("", ""), ("", "")]
    ended = state.processes["a"]
    assert (ended.tokens, ended.passes, ended.launched_seconds, ended.ended_seconds) == (70, 3, 491.0, 496.0)


async def test_who_connects_after_the_events_are_gone_sees_what_an_engine_has_done(tmp_path):
    server = RunningServer(tmp_path).start()
    try:
        program, manifest = write_program(tmp_path / "x", "brief", BRIEF)
        server.server.service.programs.install(program.read_bytes(), manifest.read_text())

        async def open_client():
            return await connect(server.url, username="ada")

        async with await open_client() as client:
            await (await client.launch("brief", {})).result()
        await asyncio.to_thread(server.call, overflow(server.server.service.feed))
        inbox = Inbox()
        await LiveSource("x", open_client).feed_for(inbox, 0.5)
        state = inbox.state()
        (ended,) = state.processes.values()
        assert (ended.program, ended.outcome, ended.result) == ("brief@0.1.0", "returned", "done")
        assert ended.tokens > 0
        assert (state.ticks > 0, state.tokens >= ended.tokens, state.engine.policy) == (True, True, "market")
        assert (state.events > KEPT, state.lost) == (True, 0)
    finally:
        await asyncio.to_thread(server.stop)


async def test_a_look_at_an_engine_that_does_nothing_any_more_says_so(server):
    async def open_client():
        return await connect(server.url, username="ada")

    inbox = Inbox()
    async with await open_client() as client:
        process = await client.launch("listener", {})
        source = LiveSource("x", open_client)
        await source.feed_for(inbox, 0.5)
        assert inbox.state().pages.used > 0
        await process.terminate()
        with contextlib.suppress(PieError):
            await process.result()
    hours = LiveSource("x", open_client, clock=lambda: time.time() + 3600)
    await hours.feed_for(inbox, 0.5)
    state = inbox.state()
    assert (state.pages.used, state.tokens_per_second, dict(state.contexts)) == (0, 0.0, {})


async def overflow(feed):
    for _ in range(KEPT):
        feed.publish(WaitChanged(0))


async def test_later_gaps_and_events_of_a_newer_server_are_counted():
    strange = EngineEvent(2, 100.0, "from_the_future", '{"kind":"from_the_future"}')
    malformed = EngineEvent(3, 100.0, "tick_completed", "{")
    gap = EngineEvent(9, 100.0, "gap", '{"missed":6}')
    state = await followed(watch(0, frame(1, LAUNCHED), strange, malformed, gap, frame(10, tick())))
    assert (state.unknown, state.lost, state.ticks) == (2, 6, 1)


async def test_a_snapshot_of_another_shape_is_told():
    with pytest.raises(InvalidArgumentError, match="snapshot"):
        await followed(watch(5, EngineEvent(4, 1.0, "gap", "{}"), state={"processes": 3}))


def test_parameters_of_a_manifest_that_cannot_be_read_are_none():
    assert manifest_parameters("[parameters") == ()


async def test_a_live_engine_is_shown_on_the_screen(server):
    async def open_client():
        return await connect(server.url, username="ada")

    source = LiveSource("here", open_client)
    async with monitor(source, source) as (app, pilot):
        await until(lambda: app.inbox.connection.state == "live")
        await press(app, pilot, "8")
        await until(lambda: app.inbox.known.programs)
        await press(app, pilot, "2")
        assert "LIVE" in screen_text(app)
        started = await source.launch("listener", {}, None)
        await until(lambda: started in app.inbox.state().processes)
        await press(app, pilot, "2")
        assert "listener@0.1.0" in screen_text(app)
        await source.kill(started)


def test_an_event_survives_the_wire():
    from pie_mlx.tui.source.live import decoded

    event = ProcessLaunched("p", "ada", "x@1.0.0", 5)
    assert decoded(msgspec.json.encode(event).decode()) == event
