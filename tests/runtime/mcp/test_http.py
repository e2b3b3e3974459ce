"""Servers over HTTP that come and go."""

import json
import threading
import uuid
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from pie_mlx.errors import McpError
from pie_mlx.runtime.mcp import McpServer, McpServers


class Handler(BaseHTTPRequestHandler):
    """JSON-RPC by hand; sessions are those of this server's life."""

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        session = self.server.session
        if request.get("method") == "initialize":
            about = {"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": {"name": "s", "version": "1"}}
            self._reply(200, {"jsonrpc": "2.0", "id": request["id"], "result": about}, session)
        elif self.headers.get("mcp-session-id") != session:
            self._reply(404)
        elif "id" not in request:
            self._reply(202)
        else:
            key = self.headers.get("X-Key")
            self._reply(200, {"jsonrpc": "2.0", "id": request["id"], "result": {"key": key, "session": session}})

    def do_GET(self) -> None:
        self._reply(405)

    do_DELETE = do_GET  # noqa: N815 - the name the library looks for

    def log_message(self, *arguments: object) -> None:
        pass

    def _reply(self, status: int, body: object = None, session: str | None = None) -> None:
        data = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        if session:
            self.send_header("mcp-session-id", session)
        self.end_headers()
        self.wfile.write(data)


@contextmanager
def serving(port: int = 0) -> Generator[int, None, None]:
    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    server.session = uuid.uuid4().hex
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def configured(port: int) -> McpServers:
    return McpServers([McpServer("web", "http", url=f"http://127.0.0.1:{port}/mcp", headers={"X-Key": "secret"})])


async def test_headers_of_the_configuration_are_sent() -> None:
    with serving() as port:
        servers = configured(port)
        assert json.loads(await servers.request("web", "tools/list", "{}"))["key"] == "secret"
        await servers.close()


async def test_a_server_that_forgot_the_session_is_greeted_again() -> None:
    with serving() as port:
        servers = configured(port)
        first = json.loads(await servers.request("web", "tools/list", "{}"))["session"]
    with serving(port):
        with pytest.raises(McpError) as raised:
            await servers.request("web", "tools/list", "{}")
        assert raised.value.rpc_code == -32000
        assert json.loads(await servers.request("web", "tools/list", "{}"))["session"] != first
        await servers.close()


async def test_a_server_that_is_gone_is_an_error_until_it_is_back() -> None:
    with serving() as port:
        servers = configured(port)
        await servers.request("web", "tools/list", "{}")
    for _ in range(2):
        with pytest.raises(McpError) as raised:
            await servers.request("web", "tools/list", "{}")
        assert raised.value.rpc_code == -32000
    with serving(port):
        await servers.request("web", "tools/list", "{}")
        await servers.close()
