"""Programs that answer HTTP on a port of their own."""

import asyncio
import gc
import json

import pytest
from pie_client import PieClient

from pie_mlx.server import ServerSettings
from pie_mlx.server.handlers import daemons
from tests.ports import free_port
from tests.server.running import RunningServer, write_program
from tests.server.speaking import hang_up, speak

pytestmark = pytest.mark.timeout(30)

SOURCE = """
import asyncio
from inferlet import session

async def pieces(count):
    for number in range(count):
        yield f"piece {number}\\n"

async def half():
    yield "half"
    raise TimeoutError("of the program")

async def handle(request, input):
    match request["path"]:
        case "/echo":
            return {"status": 201, "headers": {"X-Of": request["method"]}, "body": request["body"][::-1]}
        case "/headers":
            return {"body": sorted(request["headers"])}
        case "/json":
            return {"body": {"query": request["query"], "input": input}}
        case "/stream":
            return {"body": pieces(3), "headers": {"content-type": "text/event-stream"}}
        case "/half":
            return {"body": half()}
        case "/empty":
            return {"status": 204}
        case "/wait":
            await asyncio.Event().wait()
        case "/nothing":
            return None
        case "/fail":
            raise ValueError("no")
        case "/odd":
            return {"status": 99}
"""


async def ask(port, path, *, method="GET", body=b"", **headers):
    """Status, headers and body."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    lines = {"Host": f"localhost:{port}", "Connection": "close", "Content-Length": str(len(body)), **headers}
    head = f"{method} {path} HTTP/1.1\r\n" + "".join(f"{k}: {v}\r\n" for k, v in lines.items()) + "\r\n"
    writer.write(head.encode() + body)
    answer = await reader.read()
    await hang_up(writer)
    head, _, rest = answer.partition(b"\r\n\r\n")
    status, *fields = head.decode().split("\r\n")
    found = dict(line.lower().split(": ", 1) for line in fields)
    return int(status.split()[1]), found, _dechunked(rest) if "transfer-encoding" in found else rest


def _dechunked(data):
    found = b""
    while data:
        size, _, data = data.partition(b"\r\n")
        found, data = found + data[: int(size, 16)], data[int(size, 16) + 2 :]
    return found


@pytest.fixture(scope="module")
def port(server, tmp_path_factory):
    """A daemon that has been launched with the published client."""
    folder = tmp_path_factory.mktemp("web")
    program, manifest = write_program(folder, "web", SOURCE, more='[runtime]\nentry = "handle"\n')
    chosen = free_port()

    async def launch():
        async with PieClient(server.url) as client:
            await client.authenticate("ada")
            await client.install_program(program, manifest)
            await client.launch_daemon("web@0.1.0", chosen, {"of": "ada"})

    asyncio.run(launch())
    return chosen


async def test_a_body_goes_both_ways(port):
    status, headers, body = await ask(port, "/echo", method="POST", body=bytes(range(256)) * 2000)
    assert (status, headers["x-of"], headers["content-type"]) == (201, "post", "application/octet-stream")
    assert body == (bytes(range(256)) * 2000)[::-1]  # 1.6


async def test_values_are_json(port):
    status, headers, body = await ask(port, "/json?a=1&b=x%20y")
    assert (status, headers["content-type"]) == (200, "application/json")
    assert json.loads(body) == {"query": {"a": "1", "b": "x y"}, "input": {"of": "ada"}}


async def test_answers_can_be_streamed(port):
    status, headers, body = await ask(port, "/stream")
    assert (status, headers["content-type"], body) == (200, "text/event-stream", b"piece 0\npiece 1\npiece 2\n")


async def test_an_empty_answer(port):
    assert (await ask(port, "/empty"))[0] == 204


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("/fail", "ValueError: no"),
        ("/nothing", "answered NoneType"),
        ("/odd", "99 is not a valid status"),
    ],
)
async def test_a_failure_is_a_500_that_says_why(port, path, text):
    status, _, body = await ask(port, path)
    assert (status, text in body.decode()) == (500, True)


async def test_a_program_that_ends_with_a_timeout_is_no_client_that_does_not_read(port, caplog):
    await ask(port, "/half")
    assert [entry.getMessage() for entry in caplog.records] == ["GET /half: the answer breaks off: of the program"]


async def test_foreign_pages_and_long_bodies_are_refused(port):
    assert (await ask(port, "/json", Origin="https://evil.example"))[0] == 403
    assert (await ask(port, "/json", Host="evil.example"))[0] == 403
    assert (await ask(port, "/echo", method="POST", body=bytes((16 << 20) + 1)))[0] == 413


async def test_without_authentication_a_program_sees_what_clients_present(port):
    assert "authorization" in json.loads((await ask(port, "/headers", Authorization="Bearer of-its-own"))[2])


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
async def test_what_a_foreign_page_asks_for_is_refused(port, site):
    fields = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "no-cors"}
    assert (await ask(port, "/echo", method="POST", **fields))[0] == 403
    assert (await ask(port, "/empty", **fields))[0] == 403
    assert (await ask(port, "/empty", **{**fields, "Sec-Fetch-Mode": "navigate"}))[0] == 204


async def test_a_request_that_is_given_up_ends_its_process(server, port):
    async with await speak(server, "ada") as ada:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(f"GET /wait HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n".encode())
        while not (
            mine := [
                row
                for row in await ada.json("list_processes")
                if row["program"] == "web@0.1.0" and row["kind"] == "process"
            ]
        ):
            pass
        await hang_up(writer)
        while any(row["id"] == mine[0]["id"] for row in await ada.json("list_processes")):
            pass


async def test_a_daemon_is_listed_and_ended_like_a_process(server, port):
    async with await speak(server, "ada") as ada:
        (row,) = [row for row in await ada.json("list_processes") if row["kind"] == "daemon"]
        assert (row["program"], row["state"]) == ("web@0.1.0", "running")
        ok, result = await ada.ask("launch_daemon", port=port, inferlet="web", input="{}")
        assert (ok, result) == (False, f"port {port} on 127.0.0.1 is in use: another program or engine listens there")
        assert await ada.ask("terminate_process", process_id=row["id"]) == (True, "Process terminated")
        await ada.ask("ping")
        with pytest.raises(ConnectionError):
            await ask(port, "/json")


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"port": 0}, "port 0: must be 1 to 65535"),
        ({"port": 70000}, "port 70000: must be 1 to 65535"),
        ({"inferlet": "player"}, "no function 'handle(request)'"),
        ({"inferlet": "nobody"}, "is not installed"),
        ({"input": "[1]"}, "expected object"),
    ],
)
@pytest.mark.usefixtures("port")  # which installs the program
async def test_what_cannot_be_launched_is_refused(server, fields, reason):
    async with await speak(server, "ada") as ada:
        ok, result = await ada.ask("launch_daemon", **{"port": free_port(), "inferlet": "web", "input": "{}", **fields})
        assert (ok, reason in result) == (False, True), result


IN_JAVASCRIPT = """
async function* pieces() {
  for (let number = 0; number < 3; number++) yield `piece ${number}\\n`;
}

export async function handle(request) {
  if (request.url.endsWith('/stream')) return new Response(ReadableStream.from(pieces()));
  return new Response((await request.bytes()).toReversed());
}
"""


async def test_requests_are_answered_by_processes_of_their_own_in_any_language(tmp_path):
    running = RunningServer(tmp_path / "home", isolation="process").start()
    try:
        for name, main_file, source in (("python", "main.py", SOURCE), ("javascript", "main.js", IN_JAVASCRIPT)):
            folder = tmp_path / name
            folder.mkdir()
            (folder / main_file).write_text(source)
            manifest = f'[package]\nname = "{name}"\nversion = "0.1.0"\n[runtime]\nentry = "handle"\n'
            (folder / "Pie.toml").write_text(manifest)
            running.server.service.programs.install_path(folder)
        async with await speak(running, "ada") as ada:
            for name in ("python", "javascript"):
                chosen = free_port()
                assert await ada.ask("launch_daemon", port=chosen, inferlet=name, input="{}") == (
                    True,
                    "server launched",
                )
                assert (await ask(chosen, "/echo", method="POST", body=b"abc"))[2] == b"cba"
                assert (await ask(chosen, "/stream"))[2] == b"piece 0\npiece 1\npiece 2\n"
    finally:
        running.stop()


async def test_the_port_of_a_daemon_that_was_ended_serves_the_next(server, port, caplog):
    async with await speak(server, "ada") as ada:
        chosen = free_port()
        for _ in range(3):
            assert await ada.ask("launch_daemon", port=chosen, inferlet="web", input="{}") == (True, "server launched")
            assert (await ask(chosen, "/empty"))[0] == 204
            rows = await ada.json("list_processes")
            (daemon,) = (row["id"] for row in rows if (row["kind"], row["input"]) == ("daemon", "{}"))
            assert (await ada.ask("terminate_process", process_id=daemon))[0]
    gc.collect()
    assert not caplog.records


@pytest.fixture(scope="module")
def locked(tmp_path_factory):
    """A server with authentication, and the program installed."""
    settings = ServerSettings(port=0, authentication=True, origins=("https://a.example",))
    running = RunningServer(tmp_path_factory.mktemp("locked"), settings).start()
    folder = tmp_path_factory.mktemp("web")
    program, manifest = write_program(folder, "web", SOURCE, more='[runtime]\nentry = "handle"\n')
    running.server.service.programs.install(program.read_bytes(), manifest.read_text())
    yield running
    running.stop()


async def daemon_and_token(locked):
    """The port of a daemon of ada's, and what its launch told her."""
    chosen = free_port()
    async with await speak(locked, "ada", unix=True) as ada:
        ok, told = await ada.ask("launch_daemon", port=chosen, inferlet="web", input="{}")
        assert ok, told
    return chosen, told.removeprefix("server launched: requests need the header 'Authorization: Bearer ").rstrip("'")


async def test_an_allowed_page_may_use_a_daemon(locked):
    port, token = await daemon_and_token(locked)
    page = {"Origin": "https://a.example"}
    asks = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization"}
    status, headers, _ = await ask(port, "/json", method="OPTIONS", **page, **asks)
    assert (status, headers["access-control-allow-headers"]) == (204, "authorization")
    status, headers, _ = await ask(port, "/json", **page, Authorization=f"Bearer {token}")
    assert (status, headers["access-control-allow-origin"]) == (200, "https://a.example")


async def test_with_authentication_on_a_daemon_wants_its_token_or_the_engines(locked):
    port, token = await daemon_and_token(locked)
    assert len(token) == 64
    assert (await ask(port, "/empty"))[0] == 401
    for wrong in ("Bearer wrong", "Bearer", f"Basic {token}"):
        assert (await ask(port, "/empty", Authorization=wrong))[0] == 401
    for right in (token, locked.server.token):
        assert (await ask(port, "/empty", Authorization=f"Bearer {right}"))[0] == 204


async def test_the_token_of_a_daemon_opens_nothing_else(locked):
    _, token = await daemon_and_token(locked)
    other, _ = await daemon_and_token(locked)
    engine = int(locked.url.rpartition(":")[2])
    assert (await ask(other, "/empty", Authorization=f"Bearer {token}"))[0] == 401
    assert (await ask(engine, "/metrics", Authorization=f"Bearer {token}"))[0] == 401


async def test_a_program_never_sees_the_token(locked):
    port, _ = await daemon_and_token(locked)
    for given in ({"Authorization": f"Bearer {locked.server.token}"}, {"X-Api-Key": locked.server.token}):
        _, _, body = await ask(port, "/headers", **given)
        assert "host" in json.loads(body)
        assert not {"authorization", "x-api-key"} & set(json.loads(body))


async def test_a_user_has_so_many_daemons(locked, monkeypatch):
    monkeypatch.setattr(daemons, "DAEMONS", 1)
    async with await speak(locked, "bob", unix=True) as bob, await speak(locked, "eve", unix=True) as eve:
        fields = {"inferlet": "web", "input": "{}"}
        assert (await bob.ask("launch_daemon", port=free_port(), **fields))[0]
        refused = (False, "1 daemons of user 'bob' are running")
        assert await bob.ask("launch_daemon", port=free_port(), **fields) == refused
        assert (await eve.ask("launch_daemon", port=free_port(), **fields))[0]
