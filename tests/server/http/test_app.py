import asyncio
import json
import uuid

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from pie_mlx.client.connection import open_socket
from pie_mlx.errors import SessionClosedError
from pie_mlx.server import ServerSettings
from pie_mlx.server.access.request_checks import check_host, host_name
from tests.server.programs import PLAYER
from tests.server.running import MANIFEST, RunningServer
from tests.server.speaking import hang_up, speak

pytestmark = pytest.mark.timeout(30)
HOSTS = ("host.docker.internal", "fd00::2")


async def get(server, path, *, unix=False, method="GET", **headers):
    """Status, headers and body of a request."""
    server = server.server
    port = int(server.url.rpartition(":")[2])
    opening = asyncio.open_unix_connection(server.socket_path) if unix else asyncio.open_connection("127.0.0.1", port)
    reader, writer = await opening
    lines = {"Host": f"127.0.0.1:{port}", "Connection": "close", **headers}
    fields = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    writer.write(f"{method} {path} HTTP/1.1\r\n{fields}\r\n".encode())
    head, _, body = (await reader.read()).partition(b"\r\n\r\n")
    await hang_up(writer)
    status, *rest = head.decode().split("\r\n")
    return int(status.split()[1]), dict(line.lower().split(": ", 1) for line in rest), body.decode()


@pytest.fixture(scope="module")
def locked(tmp_path_factory):
    """A server with authentication and one allowed page."""
    settings = ServerSettings(port=0, authentication=True, origins=("https://a.example",), host_names=HOSTS)
    running = RunningServer(tmp_path_factory.mktemp("home"), settings).start()
    yield running
    running.stop()


async def test_a_server_that_serves_is_healthy(server):
    status, _, body = await get(server, "/health")
    assert status == 200
    assert json.loads(body)["status"] == "ok"


async def test_health_tells_of_a_loop_that_has_ended(tmp_path, monkeypatch):
    broken = RunningServer(tmp_path).start()
    broken.server.service.programs.install(PLAYER.encode(), MANIFEST.format(name="player", version="0.1.0"))
    try:
        engine = broken.server.service.engine
        broken.call(engine.consult(lambda services: monkeypatch.setattr(services.runner, "run", None)))
        async with await speak(broken, "ada") as speaker:
            assert (await speaker.events(await speaker.launch({"do": "generate"})))[-1]["event"] == "error"
        status, _, body = await get(broken, "/health")
    finally:
        broken.stop()
    assert status == 503
    assert "the tick loop failed" in json.loads(body)["reason"]


async def test_metrics_count(server):
    async with await speak(server, "ada") as speaker:
        await speaker.events(await speaker.launch({"do": "generate"}))
    status, headers, body = await get(server, "/metrics")
    values = dict(line.rsplit(" ", 1) for line in body.splitlines() if not line.startswith("#"))
    assert status == 200
    assert headers["content-type"].startswith("text/plain; version=0.0.4")
    assert float(values["pie_tokens_total"]) >= 20
    assert float(values["pie_processes_returned_total"]) >= 1
    assert float(values['pie_pages{state="free"}']) > 0


async def test_messages_without_a_reader_are_counted(server):
    async with await speak(server, "ada") as speaker:
        await speaker.send(type="signal_process", process_id=str(uuid.uuid4()), message="anybody?")
        await speaker.ask("query", subject="ping", record="")
    _, _, body = await get(server, "/metrics")
    assert "pie_signals_ignored_total 1.0" in body.splitlines()


async def test_who_asks_whether_anything_runs_here_is_told_so_and_what(server):
    status, _, body = await get(server, "/")
    assert (status, body.count("\n")) == (200, 1)
    assert body.startswith("Ollama is running")
    assert "/v1" in body
    assert (await get(server, "/", method="HEAD"))[::2] == (200, "")


@pytest.mark.parametrize("path", ["/chat/completions", "/v1", "/messages"])
async def test_a_client_with_another_base_is_told_where_the_interface_is(server, path):
    status, _, body = await get(server, path)
    assert (status, body.count("\n")) == (404, 1)
    assert "base_url ends in /v1" in body


async def test_versions_of_a_program_are_listed(server):
    status, _, body = await get(server, "/api/v1/inferlets/player")
    assert (status, json.loads(body)) == (200, {"name": "player", "versions": [{"num": "0.1.0", "owner": "local"}]})
    assert (await get(server, "/api/v1/inferlets/nobody"))[0] == 404


@pytest.mark.parametrize("path", ["/health", "/", "/metrics"])
async def test_a_foreign_page_is_refused(server, path):
    assert (await get(server, path, Origin="https://evil.example"))[0] == 403  # 8.2


async def test_a_foreign_page_gets_no_websocket(server):
    with pytest.raises(InvalidStatus) as refused:
        await connect(server.url, origin="https://evil.example")
    assert refused.value.response.status_code == 403


@pytest.mark.parametrize(("host", "status"), [("evil.example", 403), ("localhost:9", 200), ("[::1]:1", 200), ("", 403)])
async def test_a_rebound_name_is_refused(server, host, status):
    assert (await get(server, "/health", Host=host))[0] == status


async def test_a_rebound_name_gets_no_websocket(server):
    rebound = server.url.replace("127.0.0.1", "evil.example")
    with pytest.raises(InvalidStatus) as refused:
        await connect(rebound, host="127.0.0.1", port=int(server.url.rpartition(":")[2]))
    assert refused.value.response.status_code == 403


async def test_the_websocket_is_at_one_path(server):
    with pytest.raises(InvalidStatus) as refused:
        await connect(f"{server.url}/v1/ws")
    assert refused.value.response.status_code == 404


async def test_an_allowed_page_may_read_the_answer(locked):
    status, headers, _ = await get(locked, "/health", Origin="https://a.example")
    assert (status, headers["access-control-allow-origin"]) == (200, "https://a.example")
    async with await connect(locked.url, origin="https://a.example"):
        pass


PREFLIGHT = {
    "Origin": "https://a.example",
    "Access-Control-Request-Method": "POST",
    "Access-Control-Request-Headers": "authorization,content-type,x-stainless-os",
}


async def test_the_preflight_of_an_allowed_page_is_answered_without_a_token(locked):
    status, headers, _ = await get(locked, "/v1/chat/completions", method="OPTIONS", **PREFLIGHT)
    assert (status, headers["access-control-allow-origin"]) == (204, "https://a.example")
    assert headers["access-control-allow-headers"] == "authorization,content-type,x-stainless-os"
    assert "post" in headers["access-control-allow-methods"].split(", ")
    assert "access-control-allow-private-network" not in headers


async def test_a_page_of_a_public_site_may_use_the_private_network_if_it_is_allowed(locked):
    asks = {**PREFLIGHT, "Access-Control-Request-Private-Network": "true"}
    _, headers, _ = await get(locked, "/v1/models", method="OPTIONS", **asks)
    assert headers["access-control-allow-private-network"] == "true"


@pytest.mark.parametrize("fields", [{"Origin": "https://evil.example"}, {"Host": "evil.example"}])
async def test_other_preflights_are_refused(locked, fields):
    status, headers, _ = await get(locked, "/v1/models", method="OPTIONS", **{**PREFLIGHT, **fields})
    assert status == 403
    assert "access-control-allow-methods" not in headers


async def test_an_allowed_page_can_read_why_it_is_refused(locked):
    status, headers, _ = await get(locked, "/v1/models", Origin="https://a.example")
    assert (status, headers["access-control-allow-origin"]) == (401, "https://a.example")
    assert headers["access-control-expose-headers"] == "*"


@pytest.mark.parametrize(("host", "status"), [("Host.Docker.Internal:8080", 200), ("[fd00::2]:1", 200), ("other", 403)])
async def test_allowed_names_of_this_machine_are_let_in(locked, host, status):
    assert (await get(locked, "/health", Host=host))[0] == status


async def test_an_allowed_name_gets_a_websocket(locked):
    port = int(locked.url.rpartition(":")[2])
    async with await connect(f"ws://host.docker.internal:{port}", host="127.0.0.1", port=port):
        pass


async def test_the_openai_interface_is_refused_in_its_own_form(locked):
    status, _, body = await get(locked, "/v1/models")
    error = json.loads(body)["error"]
    assert (status, error["type"], error["code"]) == (401, "authentication_error", "invalid_api_key")


async def test_with_authentication_only_health_needs_no_token(locked):
    assert (await get(locked, "/health"))[0] == 200
    assert (await get(locked, "/metrics"))[0] == 401
    assert (await get(locked, "/metrics", Authorization="Bearer wrong"))[0] == 401
    assert (await get(locked, "/metrics", Authorization=f"Bearer {locked.server.token}"))[0] == 200  # 1.11
    assert (await get(locked, "/metrics", **{"X-Api-Key": locked.server.token}))[0] == 200


@pytest.mark.parametrize("path", ["/health", "/metrics", "/v1/models", "/api/v1/inferlets/player"])
async def test_what_can_be_got_has_a_head(server, path):
    got, headers, _ = await get(server, path)
    status, head, body = await get(server, path, method="HEAD")
    assert (status, head["content-type"], body) == (got, headers["content-type"], "")


@pytest.mark.parametrize("path", ["/health", "/v1/models", "/v1/nothing", "/nothing", "/"])
async def test_every_answer_has_an_id_of_its_own(server, path):
    found = [(await get(server, path))[1]["x-request-id"] for _ in range(2)]
    assert len(set(found)) == 2


@pytest.mark.parametrize("fields", [{"Host": "evil.example"}, {"Origin": "https://evil.example"}])
async def test_a_refusal_has_an_id(server, fields):
    assert (await get(server, "/v1/models", **fields))[1]["x-request-id"]


async def test_the_id_of_a_client_is_kept(server):
    assert (await get(server, "/v1/models", **{"X-Request-Id": "abc-1.2:3"}))[1]["x-request-id"] == "abc-1.2:3"


@pytest.mark.parametrize("odd", ["a b", "a" * 129, '"'])
async def test_an_id_that_is_none_is_replaced(server, odd):
    assert (await get(server, "/health", **{"X-Request-Id": odd}))[1]["x-request-id"].startswith("req_")


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("/v1/models", lambda body: body["error"]["message"]),
        ("/v1/messages", lambda body: body["type"] == "error" and body["error"]["message"]),
    ],
)
async def test_each_interface_is_refused_in_its_own_form(server, path, message):
    _, _, body = await get(server, path, Host="evil.example")
    assert "the Host header names another machine" in message(json.loads(body))


async def test_the_unix_socket_needs_no_token(locked):
    assert (await get(locked, "/metrics", unix=True))[0] == 200


async def test_compression_is_declined(server):
    async with await connect(server.url) as socket:
        assert socket.protocol.extensions == []  # 1.1


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
async def test_what_a_foreign_page_asks_for_is_refused(server, site):
    fields = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "no-cors"}
    assert (await get(server, "/v1/models", **fields))[0] == 403
    assert (await get(server, "/v1/models", **{**fields, "Sec-Fetch-Mode": "navigate"}))[0] == 200
    with pytest.raises(InvalidStatus) as refused:
        await connect(server.url, additional_headers={"Sec-Fetch-Site": site})
    assert refused.value.response.status_code == 403


async def test_an_origin_that_is_there_twice_is_none_that_is_allowed(locked):
    twice = [("Origin", "https://a.example"), ("Origin", "https://evil.example")]
    with pytest.raises(InvalidStatus) as refused:
        await connect(locked.url, additional_headers=twice)
    assert refused.value.response.status_code == 403


async def test_too_many_websockets_are_told_when_to_come_again(tmp_path):
    running = RunningServer(tmp_path, ServerSettings(port=0, connections=1)).start()
    try:
        async with await speak(running, "ada"):
            with pytest.raises(InvalidStatus) as refused:
                await connect(running.url)
            response = refused.value.response
            assert (response.status_code, response.headers["Retry-After"]) == (503, "1")
            async with await speak(running, unix=True) as local:
                assert (await local.ask("ping"))[0]
    finally:
        running.stop()


@pytest.mark.parametrize(
    "line", [b"\x00\x01\x02\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/1.1\r\nContent-Length: x\r\n\r\n"]
)
async def test_what_is_no_http_is_refused(server, line):
    reader, writer = await asyncio.open_connection("127.0.0.1", int(server.url.rpartition(":")[2]))
    writer.write(line)
    answer = await reader.read()
    assert answer.startswith(b"HTTP/1.1 400")
    assert b"\r\nx-request-id: req_" in answer
    await hang_up(writer)


def test_hosts_are_read_without_port_and_brackets():
    assert [host_name(text) for text in ("LocalHost:80", "[::1]:80", "::1", "a")] == ["localhost", "::1", "", "a"]


def test_any_host_is_fine_off_loopback():
    assert check_host("anything", "0.0.0.0") is None


async def test_our_client_comes_again_when_there_were_too_many(tmp_path):
    running = RunningServer(tmp_path, ServerSettings(port=0, connections=1)).start()
    try:
        first = await speak(running, "ada")
        coming = asyncio.create_task(open_socket(running.url, None))
        await first.ask("ping")
        await first.close()
        await (await coming).close()
    finally:
        running.stop()


async def test_our_client_gives_up_when_there_are_too_many_for_long(tmp_path, monkeypatch):
    monkeypatch.setattr("pie_mlx.client.connection.OPEN_SECONDS", 0.5)
    running = RunningServer(tmp_path, ServerSettings(port=0, connections=1)).start()
    try:
        async with await speak(running, "ada"):
            with pytest.raises(SessionClosedError, match="too many connections"):
                await open_socket(running.url, None)
    finally:
        running.stop()
