"""An MCP server in one file: the weather and the time of a city, made up but always the same.

It reads a JSON-RPC request per line and writes an answer per line, on nothing but the standard library.
"""

import json
import sys
from typing import Any

CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


def get_weather(city: str) -> str:
    """Get the weather of a city."""
    seed = sum(city.encode())
    return f"{seed % 30} degrees, {('sunny', 'cloudy', 'rainy', 'windy')[seed % 4]}"


def get_time(city: str) -> str:
    """Get the time in a city."""
    seed = sum(city.encode())
    return f"{seed % 24:02}:{seed % 60:02}"


TOOLS = {"get_weather": get_weather, "get_time": get_time}


def initialize(params: dict[str, Any]) -> dict[str, Any]:
    about = {"name": "almanac", "version": "1.0"}
    return {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": about}


def list_tools(params: dict[str, Any]) -> dict[str, Any]:
    described = [{"name": name, "description": tool.__doc__, "inputSchema": CITY} for name, tool in TOOLS.items()]
    return {"tools": described}


def call_tool(params: dict[str, Any]) -> dict[str, Any]:
    """What failed is told to the model, not to the protocol."""
    try:
        text, failed = TOOLS[params["name"]](**params["arguments"]), False
    except (KeyError, TypeError) as error:
        text, failed = f"{type(error).__name__}: {error}", True
    return {"content": [{"type": "text", "text": text}], "isError": failed}


def ping(params: dict[str, Any]) -> dict[str, Any]:
    return {}


METHODS = {"initialize": initialize, "tools/list": list_tools, "tools/call": call_tool, "ping": ping}


def answer(request: dict[str, Any]) -> dict[str, Any]:
    if request["method"] not in METHODS:
        return {"error": {"code": -32601, "message": f"no method {request['method']}"}}
    return {"result": METHODS[request["method"]](request.get("params", {}))}


for line in sys.stdin:
    request = json.loads(line)
    if "id" in request:
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **answer(request)}), flush=True)
