"""What a collector gets of a whole `pie serve` with `[telemetry]`: one trace for each question from outside, with the
requests, programs, children and tools that answered it."""

import http.server
import json
import signal
import threading
import urllib.request

import pytest

from pie_mlx.cli.main import execute
from tests.serving import Serving

pytestmark = pytest.mark.timeout(120)

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
PARENT = """
from inferlet import Context, Model, Sampler, runtime

async def main(input):
    with Context(Model.load(runtime.models()[0])) as context:
        context.user("Whom shall I ask?")
        await context.generate(Sampler.argmax(), max_tokens=2).collect_text()
    return await runtime.launch("child.py").result()
"""
CHILD = """
from inferlet import mcp

async def main(input):
    return mcp.connect("desk").call_tool("clock", {})
"""


class Desk(http.server.BaseHTTPRequestHandler):
    """An MCP server with a tool. It keeps the span that a call names."""

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if request["method"] == "tools/call":
            self.server.named = request["params"]["_meta"]["traceparent"]
        about = {"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": {"name": "desk", "version": "1"}}
        result = about if request["method"] == "initialize" else {"content": [{"type": "text", "text": "noon"}]}
        reply = json.dumps({"jsonrpc": "2.0", "id": request.get("id"), "result": result}).encode()
        self.send_response(200 if "id" in request else 202)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(reply) if "id" in request else 0))
        self.end_headers()
        if "id" in request:
            self.wfile.write(reply)

    def do_GET(self):
        self.send_error(405)

    do_DELETE = do_GET  # noqa: N815 - the name the server looks for

    def log_message(self, *arguments):
        pass


@pytest.fixture
def desk():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Desk) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def served(tmp_path, collector, desk):
    """A `pie serve` that sends its traces to the collector and knows the desk."""
    config = tmp_path / "config.toml"
    config.write_text(f"""
[telemetry]
enabled = true
endpoint = "{collector.endpoint}"
service_name = "shop"

[[mcp]]
name = "desk"
transport = "http"
url = "http://127.0.0.1:{desk.server_port}/mcp"
""")
    serving = Serving(tmp_path / "home", "--port", "0", "--config", config)
    yield serving
    serving.clean_up()


def ask(info):
    body = {"model": info["model"], "max_tokens": 2, "messages": [{"role": "user", "content": "Hello"}]}
    headers = {"Content-Type": "application/json", "traceparent": f"00-{TRACE}-00f067aa0ba902b7-01"}
    request = urllib.request.Request(f"{info['openai']}/chat/completions", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request) as answer:
        assert answer.status == 200


def test_a_request_a_parent_its_child_and_its_tool_arrive_joined(served, collector, desk, tmp_path, monkeypatch):
    parent = tmp_path / "parent"
    parent.mkdir()
    (parent / "main.py").write_text(PARENT)
    (parent / "child.py").write_text(CHILD)
    ask(served.ready())
    monkeypatch.setenv("PIE_HOME", str(served.home))
    assert execute(["run", str(parent)]) == 0
    assert served.end(signal.SIGTERM) == 0  # the last spans are sent
    spans = {span.name: span for span in collector.spans()}
    assert collector.services == {"shop"}

    request, tool = spans["/v1/chat/completions"], spans["tools/call clock"]
    above, child = spans["invoke_agent parent"], spans["invoke_agent child"]
    replies = [span for span in collector.spans() if span.name.startswith("chat ")]
    assert (request.trace_id.hex(), request.parent_span_id.hex()) == (TRACE, "00f067aa0ba902b7")
    assert {(reply.trace_id, reply.parent_span_id) for reply in replies} == {
        (request.trace_id, request.span_id),
        (above.trace_id, above.span_id),
    }
    assert (above.parent_span_id, child.parent_span_id) == (b"", above.span_id)
    assert tool.parent_span_id == child.span_id
    assert {span.trace_id for span in (child, tool)} == {above.trace_id}
    assert desk.named == f"00-{tool.trace_id.hex()}-{tool.span_id.hex()}-01"
