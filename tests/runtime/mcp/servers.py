"""MCP servers to talk to: one made with the official package, and small ones that misbehave on request."""

import sys
from pathlib import Path

from pie_mlx.runtime.mcp import McpServer

OFFICIAL = '''
"""Tools, a resource and a prompt. With a port it serves HTTP, else standard input and output."""

import os
import sys

from mcp.server.mcpserver import MCPServer

server = MCPServer("weather")


@server.tool()
def forecast(city: str) -> str:
    """Tomorrow's weather."""
    print(f"asked about {city}", file=sys.stderr, flush=True)
    return f"sunny in {city}"


@server.tool()
def broken() -> str:
    """Always fails."""
    raise ValueError("no clouds")


@server.tool()
def process_id() -> str:
    """The process id of this server."""
    return str(os.getpid())


@server.resource("weather://today")
def today() -> str:
    """Today's weather."""
    return "grüß dich, rain"


@server.prompt()
def ask(city: str) -> str:
    """A question."""
    return f"How is the weather in {city}?"


if len(sys.argv) > 1:
    import uvicorn

    app = server.streamable_http_app()
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="critical")
else:
    server.run()
'''

SMALL = '''
"""JSON-RPC by hand: `behaviour` says how it answers tools/call. It starts in no time."""

import json
import os
import sys
import time

behaviour = sys.argv[1]


def answer(request, result=None, error=None):
    reply = {"jsonrpc": "2.0", "id": request["id"]}
    reply.update({"error": error} if error else {"result": result})
    print(json.dumps(reply), flush=True)


def greet(request):
    about = {"name": "small", "version": "1"}
    answer(request, {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": about})


def call(request):
    name = request["params"]["name"]
    if name == "die":
        print("last words", file=sys.stderr, flush=True)
        os._exit(3)
    elif name == "silence":
        pass
    elif name == "babble":
        for number in range(1000):
            print("not json", number, flush=True)
    elif name == "refuse":
        answer(request, error={"code": -32050, "message": "not today", "data": {"retry": [1, 2]}})
    elif name == "slow":
        time.sleep(0.2)
        answer(request, {"content": []})
    elif name == "odd":
        answer(request, {"n": 12345678901234567890, "z": "gr\\u00fc\\u00df", "a": None})
    else:
        answer(request, {"pid": os.getpid(), "arguments": request["params"].get("arguments")})


if behaviour == "crash":
    print("cannot find my files", file=sys.stderr, flush=True)
    sys.exit(1)
if behaviour == "babble":
    while True:
        print("hello, I am a server", flush=True)
if behaviour == "greeting":
    print("hello, I am a server", flush=True)
if behaviour == "mute":
    time.sleep(60)
for line in sys.stdin:
    request = json.loads(line)
    if request.get("method") == "initialize":
        greet(request)
    elif request.get("method") == "tools/call":
        call(request)
    elif "id" in request:
        answer(request, {"method": request["method"]})
'''


def official_server(directory: Path, name: str = "weather") -> McpServer:
    """Made with the official package; takes seconds to start."""
    script = directory / "official.py"
    script.write_text(OFFICIAL)
    return McpServer(name, "stdio", sys.executable, (str(script),))


def small_server(directory: Path, behaviour: str = "", name: str = "small") -> McpServer:
    """Made by hand; starts at once."""
    script = directory / "small.py"
    script.write_text(SMALL)
    return McpServer(name, "stdio", sys.executable, ("-S", str(script), behaviour))
