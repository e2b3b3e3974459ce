"""Spans of several systems are one trace: the request that asks, the program, its child, and the MCP servers."""

import asyncio
import json

from inferlet import mcp, runtime
from pie_mlx import Engine
from pie_mlx.calls import HttpRequest
from pie_mlx.events import Event
from pie_mlx.runtime.daemon import HttpExchange
from pie_mlx.telemetry.spans import SpanFold
from pie_mlx.trace.traceparent import parse_traceparent

ASKED = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
CHILD = """
from inferlet import mcp

async def main(input):
    mcp.connect("desk").call_tool("child's", {})
"""


class Relay:
    """An MCP server of a client, which keeps the span that each call names."""

    def __init__(self):
        self.named = {}

    def servers(self):
        return ["desk"]

    async def request(self, server, method, params_json):
        params = json.loads(params_json)
        self.named[params["name"]] = parse_traceparent(params["_meta"]["traceparent"])
        return "{}"


async def test_request_program_child_and_tools_are_one_trace(tmp_path):
    (tmp_path / "child.py").write_text(CHILD)
    events: list[Event] = []

    async def main(input):
        mcp.connect("desk").call_tool("its own", {})
        await runtime.launch(str(tmp_path / "child.py")).result()

    relay, request = Relay(), HttpRequest("POST", "/v1/x", "", [("traceparent", ASKED)], b"")
    async with Engine(dummy=True, total_pages=64, on_event=events.append, joins_traces=True) as engine:
        process = await engine.launch(main, {}, relay=relay, http=HttpExchange(request))
        await process.outcome()
        await asyncio.sleep(0)
    fold = SpanFold()
    spans = {span.name: span for event in events for span in fold.observe(event)}
    agent, child = spans["invoke_agent main"], spans["invoke_agent child"]
    assert str(agent.above) == ASKED
    assert child.above.span == agent.span
    for name, above in (("its own", agent), ("child's", child)):
        tool = spans[f"tools/call {name}"]
        assert (tool.above.span, tool.span) == (above.span, relay.named[name].span)
        assert relay.named[name].trace == tool.trace
    assert {span.trace for span in spans.values()} == {ASKED[3:35]}


async def test_without_telemetry_servers_get_what_the_program_sent():
    seen: list[str] = []

    class Plain(Relay):
        async def request(self, server, method, params_json):
            seen.append(params_json)
            return "{}"

    async def main(input):
        mcp.connect("desk").call_tool("t", {})

    async with Engine(dummy=True, total_pages=64) as engine:
        await (await engine.launch(main, {}, relay=Plain())).outcome()
    assert json.loads(seen[0]) == {"name": "t", "arguments": {}}
