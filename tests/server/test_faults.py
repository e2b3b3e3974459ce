"""What goes wrong on our side, and what strangers send."""

import asyncio
import contextlib
import os
import socket
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pie_mlx.errors import ConfigError, ProtocolError
from pie_mlx.server import Server, ServerSettings, frames
from pie_mlx.server.handlers import handlers
from pie_mlx.server.run_files import (
    EngineFile,
    bind_unix,
    engine_file,
    lock_home,
    remove_engine_file,
    remove_unix,
    write_engine_file,
)
from pie_mlx.server.transport.listener import bind_tcp, listen
from tests.server.running import RunningServer, dummy_engine
from tests.server.speaking import hang_up, speak

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats() | st.text() | st.binary(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=10,
)
TYPES = st.sampled_from(["ping", "query", "launch_process", "add_program", "transfer_file", "set_bid", "nonsense"])
FIELDS = st.sampled_from(["corr_id", "subject", "record", "process_id", "inputs", "bid", "chunk_data", "total_chunks"])


@given(st.binary(max_size=300))
def test_any_bytes_are_a_frame_or_refused(data):
    with contextlib.suppress(ProtocolError):
        frames.decode(data)


@given(TYPES, st.dictionaries(FIELDS, VALUES, max_size=6))
def test_any_fields_are_a_frame_or_refused(type, fields):
    try:
        found = frames.decode(msgspec.msgpack.encode({**fields, "type": type}))
    except ProtocolError:
        return
    assert isinstance(found, frames.Frame | frames.Unfit)


@pytest.mark.timeout(30)
async def test_a_fault_of_ours_closes_the_connection_instead_of_leaving_it_waiting(server, monkeypatch, caplog):
    async def broken(connection, request):
        raise RuntimeError("a fault")

    monkeypatch.setitem(handlers, frames.Ping, broken)
    async with await speak(server, "ada") as speaker, await speak(server, "bob") as other:
        await speaker.begin("ping")
        assert await speaker.closed() == (1011, "internal error: see the engine's log")
        assert (await other.query("engine_info"))["product"] == "pie-mlx"
    assert "a fault" in caplog.text


@pytest.mark.timeout(30)
async def test_a_connection_that_vanishes_leaves_nothing(server):
    connections = server.server.service.connections
    before = len(connections)
    speaker = await speak(server, "ada")
    process = await speaker.launch({"do": "wait"})
    speaker.socket.transport.abort()
    async with await speak(server, "ada") as other:
        while len(connections) > before + 1:
            await other.ask("ping")
        assert await other.ask("terminate_process", process_id=process) == (True, "Process terminated")


@pytest.mark.timeout(60)
async def test_a_thousand_connections_that_say_nothing(server):
    port = int(server.url.rpartition(":")[2])
    held = []
    for _ in range(1000):
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        held.append(writer)
        if len(held) > 100:
            held.pop(0).close()
    async with await speak(server, "ada") as speaker:
        assert await speaker.ask("ping") == (True, "Pong")
    for writer in held:
        await hang_up(writer)


def test_a_port_in_use_is_found_before_anything_is_loaded(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ConfigError, match=f"port {port} on 127.0.0.1 is in use"):
            RunningServer(tmp_path, ServerSettings(port=port)).start()


def test_an_engine_that_runs_on_the_home_already_is_named_by_its_address_and_what_stops_it(server):
    port = int(server.url.rpartition(":")[2])
    with pytest.raises(ConfigError) as refused:
        RunningServer(server.home, ServerSettings(port=port)).start()
    assert str(refused.value) == f"{server.home}: an engine already runs with it, at {server.url}"
    assert "stop it with 'pie stop'" in refused.value.hint


def test_a_home_is_taken_before_its_engine_has_loaded_a_model(tmp_path):
    with lock_home(tmp_path), pytest.raises(ConfigError, match="an engine already runs with it"):
        RunningServer(tmp_path).start()
    RunningServer(tmp_path).start().stop()


def test_a_port_on_which_somebody_listens_for_all_addresses_is_not_taken_away(monkeypatch):
    with socket.create_server(("0.0.0.0", 0)) as other:
        port = other.getsockname()[1]
        monkeypatch.setattr(socket.socket, "bind", lambda *_: None)  # macOS allows it
        with pytest.raises(ConfigError, match="in use"):
            bind_tcp("127.0.0.1", port)


def test_a_port_taken_while_the_model_loads_is_told_too():
    first = bind_tcp("127.0.0.1", 0)
    port = first.getsockname()[1]
    second = bind_tcp("127.0.0.1", port)
    listen(first, "127.0.0.1", port)
    with pytest.raises(ConfigError, match="is in use"):
        listen(second, "127.0.0.1", port)
    first.close()
    second.close()


@pytest.mark.parametrize("host", ["256.1.1.1", "no.such.host.invalid"])
def test_an_impossible_host_is_told(host):
    with pytest.raises(ConfigError, match=f"cannot listen on {host}"):
        bind_tcp(host, 0)


async def test_a_model_that_does_not_load_leaves_nothing(tmp_path):
    def broken(on_event, resolve):
        return dummy_engine(on_event, resolve, policy="nonsense")

    server = Server(ServerSettings(port=0), broken, home=tmp_path, model="m")
    with pytest.raises(Exception, match="nonsense"):
        await server.__aenter__()
    assert [path.name for path in (tmp_path / "run").iterdir()] == ["lock"]


def test_the_socket_of_a_dead_engine_is_replaced(tmp_path):
    first = bind_unix(tmp_path)
    first.close()
    second = bind_unix(tmp_path)
    assert os.stat(second.getsockname()).st_mode & 0o777 == 0o600
    second.close()


def test_a_long_home_gets_its_socket_elsewhere(tmp_path):
    bound = bind_unix(tmp_path / ("x" * 100))
    assert len(bound.getsockname()) <= 103  # 8.4
    path = Path(bound.getsockname())
    assert path.parent.stat().st_mode & 0o777 == 0o700
    bound.close()
    remove_unix(tmp_path / ("x" * 100), path)
    assert not path.parent.exists()


def test_only_our_own_file_is_removed(tmp_path):
    bind_unix(tmp_path).close()
    write_engine_file(tmp_path, EngineFile(1, "ws://a", "s", "0", 0.0))
    assert engine_file(tmp_path).stat().st_mode & 0o777 == 0o600
    remove_engine_file(tmp_path)
    assert engine_file(tmp_path).exists()
    write_engine_file(tmp_path, EngineFile(os.getpid(), "ws://a", "s", "0", 0.0))
    remove_engine_file(tmp_path)
    assert not engine_file(tmp_path).exists()
