import asyncio
import gc
import json
import sys
import threading
import weakref
from unittest.mock import ANY

import msgspec
import pytest
from websockets.asyncio.server import serve

from pie_mlx.client import connect, find_engine
from pie_mlx.client.connection import open_socket
from pie_mlx.errors import (
    AuthError,
    InvalidArgumentError,
    LaunchError,
    McpError,
    ProcessError,
    ProtocolError,
    SessionClosedError,
)
from pie_mlx.events import ProcessFailed, ProcessFile, ProcessMessage, ProcessOutput, ProcessReturned
from pie_mlx.server import frames
from tests.ports import free_port
from tests.server.http.test_daemon import ask
from tests.server.running import MANIFEST, RunningServer
from tests.server.test_published_client import MCP_SERVER, do

pytestmark = pytest.mark.timeout(30)


async def collect(process):
    return [item async for item in process.events()]


async def test_events_are_those_of_an_engine_in_the_same_process(client):
    process = await client.launch("player", do("talk"))
    events = [event for event, _ in await collect(process)]
    assert ProcessOutput(process.id, "stdout", "out\n") in events
    assert ProcessMessage(process.id, '{"a":1}', "json") in events
    assert events[-1] == ProcessReturned(process.id, '{"done": true}', "json")


@pytest.mark.parametrize("value", ["text", {"a": [1]}, None, 3])
async def test_results_are_what_the_program_returned(client, value):
    process = await client.launch("player", do("value", value=value))
    assert await process.result() == value
    assert await process.result() == value


async def end_at_once(socket):
    """An engine whose processes end with the answer to the request that starts them, or attaches to them."""
    async for data in socket:
        request = msgspec.msgpack.decode(data)
        result = '["p"]' if request["type"] == "launch_processes" else "p"
        await socket.send(frames.response(request["corr_id"], True, result))
        await socket.send(frames.process_event("p", "return", '{"a": 1}', format="json"))


@pytest.mark.parametrize("start", ["launch", "launch_all", "attach"])
async def test_a_process_may_end_before_its_start_is_known(start):
    async with serve(end_at_once, "127.0.0.1", 0) as engine:
        host, port = engine.sockets[0].getsockname()
        async with await connect(f"ws://{host}:{port}") as client:
            given = {"launch": ["x"], "launch_all": ["x", [{}]], "attach": ["p"]}[start]
            started = await getattr(client, start)(*given)
            (process,) = started if start == "launch_all" else [started]
            assert await asyncio.wait_for(process.result(), 5) == {"a": 1}


@pytest.fixture
def sockets(monkeypatch):
    """Those of the clients made since."""
    found = []

    async def opened(url, unix_socket):
        found.append(await open_socket(url, unix_socket))
        return found[-1]

    monkeypatch.setattr("pie_mlx.client.client.open_socket", opened)
    return found


@pytest.fixture
def queues(monkeypatch):
    """References to the queues that this thread made since: those of the client."""
    made, thread = [], threading.get_ident()

    class Queue(asyncio.Queue):
        def __init__(self):
            super().__init__()
            if threading.get_ident() == thread:
                made.append(weakref.ref(self))

    monkeypatch.setattr(asyncio, "Queue", Queue)
    return made


def are_kept(queues):
    assert queues
    gc.collect()
    return any(queue() is not None for queue in queues)


async def ended(watch, count):
    """Once so many programs have been told to be killed."""
    killed = []
    while len(killed) < count:
        event = json.loads((await anext(watch.events)).data)
        assert event["error_type"] == "ProcessCancelledError"
        killed.append(event["process"])
    return True


@pytest.mark.parametrize("attach", [True, False])
@pytest.mark.parametrize(("start", "given", "count"), [("launch", do("wait"), 1), ("launch_all", [do("wait")] * 2, 2)])
async def test_what_a_cancelled_launch_started_ends(client, start, given, count, attach):
    watch = await client.watch(kinds=["process_failed"])
    launching = asyncio.create_task(getattr(client, start)("player", given, attach=attach))
    await asyncio.sleep(0)
    launching.cancel()
    with pytest.raises(asyncio.CancelledError):
        await launching
    assert await asyncio.wait_for(ended(watch, count), 5)


async def test_what_a_launch_that_was_cancelled_with_its_answer_started_ends(sockets, client, queues, monkeypatch):
    watch = await client.watch(kinds=["process_failed"])
    queues.clear()
    launching = asyncio.create_task(client.launch("player", do("wait")))
    (socket,) = sockets
    receive = socket.recv

    async def cancel_and_receive():  # called next when the answer was handled
        launching.cancel()
        return await receive()

    with monkeypatch.context() as patched:
        patched.setattr(socket, "recv", cancel_and_receive)
        await asyncio.wait({launching})
    assert launching.cancelled()
    launching = None  # its frames hold what it was to return
    assert not are_kept(queues)
    assert await asyncio.wait_for(ended(watch, 1), 5)


async def test_a_failure_is_raised(client):
    with pytest.raises(ProcessError, match="ValueError: no"):
        await (await client.launch("player", do("fail"))).result()


async def test_messages_and_files_go_both_ways(client):
    process = await client.launch("player", do("echo"))
    await process.send("hello")
    assert (await collect(process))[0][0].text == "hello"
    process = await client.launch("player", do("file"))
    data = bytes(range(256)) * 3000
    await process.send_file(data)
    assert (await collect(process))[0] == (ProcessFile(process.id, "back.bin", len(data)), data[::-1])


async def test_equal_files_of_several_processes_reach_their_own(client):
    processes = await client.launch_all("player", [do("files", n=2, size=600_000)] * 3)
    for process in processes:
        assert [data[:1] for _, data in await collect(process) if data] == [b"\0", b"\1"]


async def test_an_empty_file_goes_both_ways(client):
    process = await client.launch("player", do("file"))
    await process.send_file(b"")
    assert (await collect(process))[0] == (ProcessFile(process.id, "back.bin", 0), b"")


async def test_a_process_keeps_what_comes_between_two_clients(client):
    process = await client.launch("player", do("echo"))
    await process.detach()
    await client.signal(process.id, "kept")
    again = await client.attach(process.id)
    assert [event.text for event, _ in (await collect(again))[:-1]] == ["kept"]


async def test_a_caller_that_waits_for_a_process_hears_that_it_was_detached(client):
    process = await client.launch("player", do("wait"))
    waiting = asyncio.create_task(process.result())
    await process.detach()
    with pytest.raises(SessionClosedError, match="detached") as left:
        await asyncio.wait_for(waiting, 3)
    assert left.value.hint == f"attach again: 'pie attach {process.id[:8]}'"
    await process.terminate()


@pytest.mark.parametrize("start", ["launch", "launch_all"])
async def test_nothing_is_kept_for_a_process_that_is_not_attached(client, queues, start):
    await getattr(client, start)("player", {"launch": do("talk"), "launch_all": [do("talk")]}[start], attach=False)
    assert not are_kept(queues)


async def test_the_result_of_a_process_that_is_not_attached_is_not_waited_for(client):
    process = await client.launch("player", do("talk"), attach=False)
    with pytest.raises(SessionClosedError, match="launched without attaching") as left:
        await process.result()
    assert left.value.hint.endswith(f"attach: 'pie attach {process.id[:8]}'")


async def test_a_terminated_process_fails_and_is_gone(client):
    process = await client.launch("player", do("wait"))
    await process.terminate()
    assert (await collect(process))[-1][0] == ProcessFailed(process.id, "ProcessCancelledError", "Signal")
    with pytest.raises(ProcessError, match="Process not found"):
        await process.terminate()


async def test_whatever_json_carries_is_an_input_of_a_child(client):
    source = b"""
from inferlet import runtime
async def main(input):
    return ascii(input["x"]) if "x" in input else await runtime.launch("odd", input["child"]).result()
"""
    await client.install(source, MANIFEST.format(name="odd", version="1.0.0"))
    process = await client.launch("odd", {"child": r'{"x": ["\ud800", 1180591620717411303424]}'})
    assert await process.result() == r"['\ud800', 1180591620717411303424]"


@pytest.mark.parametrize(
    "value", [{"a": float("inf")}, {"a": float("nan")}, {"a": 10**5000}, {"a": object()}, {(1,): 2}]
)
@pytest.mark.parametrize(
    "launch",
    [
        lambda client, value: client.launch("player", value),
        lambda client, value: client.launch_all("player", [{}, value]),
        lambda client, value: client.launch_daemon("player", 8081, value),
    ],
)
async def test_python_values_json_cannot_hold_are_refused(client, launch, value):
    with pytest.raises(LaunchError, match="input: not JSON") as refused:
        await launch(client, value)
    assert refused.value.hint == "pass a dict of JSON values"


async def test_numbers_and_texts_no_frame_can_hold_are_refused(client):
    with pytest.raises(InvalidArgumentError, match="launch_process: can't serialize ints"):
        await client.launch("player", do("talk"), token_budget=2**64)
    with pytest.raises(InvalidArgumentError, match="launch_process: 'utf-8' codec can't encode"):
        await client.launch("\ud800")


async def test_nothing_is_left_of_what_could_not_be_sent(server, caplog):
    async with await connect(server.url) as client:
        with pytest.raises(InvalidArgumentError):
            await client.launch("\ud800")
    del client
    gc.collect()
    assert caplog.text == ""


async def test_a_lone_surrogate_of_a_message_arrives_as_the_replacement_character(client):
    process = await client.launch("player", do("echo"))
    await process.send("a\ud800b")
    assert (await collect(process))[0][0].text == "a\ufffdb"


async def test_a_program_can_be_launched_until_it_is_removed(client):
    await client.install(b"async def main(input): return 7\n", MANIFEST.format(name="seven", version="1.0.0"))
    assert await (await client.launch("seven")).result() == 7
    await client.remove("seven", "1.0.0")
    with pytest.raises(LaunchError, match="is not installed"):
        await client.launch("seven")


async def test_refusals_keep_their_class_and_hint(client):
    with pytest.raises(InvalidArgumentError, match="Unknown query subject") as refused:
        await client.query("nonsense")
    assert refused.value.code == "invalid_argument"
    with pytest.raises(LaunchError) as refused:
        await client.launch("nobody")
    assert refused.value.hint


@pytest.mark.parametrize("value", [{1}, float("nan")])
async def test_a_query_that_json_cannot_hold_is_refused_by_its_subject(client, value):
    with pytest.raises(InvalidArgumentError, match="query processes: not JSON") as refused:
        await client.query("processes", after=value)
    assert refused.value.hint


async def test_a_listing_has_all_its_pages(client):
    processes = await client.launch_all("player", [do("wait")] * 5, attach=False)
    listed = [row["id"] for row in await client.processes()]
    assert {process.id for process in processes} <= set(listed)
    for process in processes:
        await client.terminate(process.id)


async def test_mcp_servers_run_here(client, tmp_path):
    (tmp_path / "tools.py").write_text(MCP_SERVER.replace('str(arguments["a"] + arguments["b"])', '"x" * 200_000'))
    await client.register_mcp_server("tools", sys.executable, [str(tmp_path / "tools.py")])
    result = await (await client.launch("player", do("mcp"))).result()
    assert len(json.loads(result)["content"][0]["text"]) == 200_000  # 1.10
    with pytest.raises(McpError, match="No such file"):
        await client.register_mcp_server("none", "/no/such/command")


async def test_a_watch_tells_of_what_happens_after_its_snapshot(client):
    watch = await client.watch(kinds=["process_launched", "process_returned"])
    process = await client.launch("player", do("value", value=1), attach=False)
    first = await anext(watch.events)
    second = await anext(watch.events)
    assert (first.kind, second.kind) == ("process_launched", "process_returned")
    assert json.loads(first.data)["process"] == process.id
    assert first.sequence > watch.snapshot["sequence"]


async def launched_since(watch, client):
    """Programs whose launch is told, up to one that is launched now."""
    process = await client.launch("player", do("value", value=1), attach=False)
    told = []
    while process.id not in told:
        told.append(json.loads((await anext(watch.events)).data)["process"])
    return told


async def test_a_second_watch_begins_at_its_own_snapshot(client):
    first = await client.watch(kinds=["process_launched"])
    for _ in range(3):
        await launched_since(first, client)
    second = await client.watch(kinds=["process_launched"])
    assert len(await launched_since(second, client)) == 1
    with pytest.raises(SessionClosedError, match="started another watch"):
        [event async for event in first.events]


async def test_a_watch_that_is_replaced_does_not_stop_the_next(client):
    first = await client.watch(kinds=["process_launched"])
    await launched_since(first, client)
    second = await client.watch(kinds=["process_launched"])
    await first.events.aclose()
    assert len(await launched_since(second, client)) == 1


async def test_a_watch_that_is_closed_is_no_longer_sent_events(server, client):
    watch = await client.watch(kinds=["process_launched"])
    await launched_since(watch, client)
    await watch.events.aclose()
    await client.ping()
    assert not any(connection.watcher for connection in server.server.service.connections)


@pytest.mark.parametrize("close", [True, False])
async def test_events_of_a_watch_that_was_never_read_are_not_kept(client, queues, close):
    watch = await client.watch()
    if close:
        await watch.events.aclose()
    else:
        del watch
    assert not are_kept(queues)


async def test_a_lost_connection_names_the_process_to_attach_to(server, sockets):
    client = await connect(server.url)
    process = await client.launch("player", do("wait"))
    sockets[0].transport.abort()
    with pytest.raises(SessionClosedError, match="the connection to the engine was lost") as lost:
        await collect(process)
    assert lost.value.hint == f"attach again: 'pie attach {process.id[:8]}'"
    with pytest.raises(SessionClosedError) as lost:
        await client.ping()
    assert lost.value.hint == "connect again"


async def test_all_calls_on_a_lost_connection_fail(tmp_path):
    running = RunningServer(tmp_path).start()
    running.server.service.programs.install(
        b"async def main(input): pass\n", MANIFEST.format(name="a", version="1.0.0")
    )
    async with await connect(running.url) as client:
        await asyncio.to_thread(running.stop)  # the client closes meanwhile
        with pytest.raises(SessionClosedError, match="1001"):
            await client.ping()
        with pytest.raises(SessionClosedError):
            await client.launch("a")


async def test_an_address_without_an_engine_is_an_error():
    with pytest.raises(SessionClosedError, match=r"no engine answers at ws://127\.0\.0\.1:1"):
        await connect("ws://127.0.0.1:1")


@pytest.mark.parametrize("url", ["ws://h:99999", "ws://h:port", "ws://[", f"ws://{'a' * 64}.example", "127.0.0.1:8080"])
async def test_what_is_no_address_is_refused_with_the_form_of_one(url):
    with pytest.raises(ProtocolError, match="not an address of an engine") as refused:
        await connect(url)
    assert refused.value.hint == "write ws://HOST:PORT"


@pytest.mark.parametrize(
    ("url", "address"),
    [("http://127.0.0.1:8080/v1", "ws://127.0.0.1:8080"), ("https://mac.example/", "wss://mac.example")],
)
async def test_the_address_of_an_http_client_is_refused_with_that_of_the_engine(url, address):
    with pytest.raises(ProtocolError, match="not an address of an engine") as refused:
        await connect(url)
    assert refused.value.hint == f"write {address}"


async def test_a_refused_handshake_is_an_error(server):
    with pytest.raises(AuthError, match="refused with 404"):
        await connect(f"{server.url}/elsewhere")


async def test_engines_are_found_by_their_file(server):
    address = find_engine(None, {}, server.home)
    assert (address.url, address.unix_socket) == (server.url, server.server.socket_path)
    async with await connect(address.url, unix_socket=address.unix_socket) as client:
        await client.ping()
    assert find_engine("ws://a", {"PIE_URL": "ws://b"}, server.home).url == "ws://a"
    assert find_engine(None, {"PIE_URL": "ws://b"}, server.home).url == "ws://b"


def test_dead_engines_are_not_found(tmp_path):
    assert find_engine(None, {}, tmp_path) is None
    (tmp_path / "run").mkdir()
    file = tmp_path / "run" / "engine.json"
    for content in (
        "",
        "{}",
        '{"pid": 1, "url": "ws://a", "socket": "/no/such"}',
        '{"pid": 99999999, "url": "", "socket": ""}',
    ):
        file.write_text(content)
        assert find_engine(None, {}, tmp_path) is None


async def test_a_daemon_answers_on_its_port_and_is_ended_like_a_process(client):
    manifest = MANIFEST.format(name="greeter", version="0.1.0") + '[runtime]\nentry = "handle"\n'
    await client.install(b"async def handle(request):\n    return {'body': 'hello'}\n", manifest)
    port = free_port()
    await client.launch_daemon("greeter", port, {"odd": "\ud800"})
    assert await ask(port, "/") == (200, ANY, b"hello")
    (daemon,) = [row for row in await client.processes() if row["kind"] == "daemon"]
    await client.terminate(daemon["id"])


@pytest.mark.parametrize(("program", "port"), [("player", 0), ("player", 8001), ("nobody", 8001)])
async def test_a_daemon_that_cannot_be_launched_is_refused(client, program, port):
    with pytest.raises((InvalidArgumentError, LaunchError)):
        await client.launch_daemon(program, port)


async def test_a_client_that_is_cancelled_while_leaving_leaves_no_open_connection(sockets, client, monkeypatch):
    (socket,) = sockets
    monkeypatch.setattr(socket, "close", asyncio.Event().wait)
    leaving = asyncio.create_task(client.close())
    await asyncio.sleep(0)
    leaving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await leaving
    assert socket.transport.is_closing()
    monkeypatch.undo()
