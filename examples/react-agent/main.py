"""A ReAct agent: the model thinks, calls tools of an MCP server, reads what they answer, and goes on until it knows.

The server is almanac.py, which config.toml names; any other that your configuration has will do.

    pie run examples/react-agent -c examples/react-agent/config.toml -- --question "What time is it in Lima?"
"""

import json
from collections.abc import Iterator
from typing import Any

from inferlet import Context, Model, Sampler, chat, mcp, reasoning, runtime, session, tools


async def main(input: dict[str, Any]) -> str:
    model = Model.load(runtime.models()[0])
    with mcp.connect(input["server"]) as server, Context(model) as context:
        context.system("Think step by step.").equip_tools(schemas(server)).user(input["question"])
        for _ in range(input["max_calls"] + 1):
            answer, called = await turn(context)
            if not called:
                return answer
            context.seal()
            for name, arguments in called:
                result = observe(server, name, arguments)
                session.send(f"Action: {name} {arguments}\nObservation: {result}\n")
                context.answer_tool(name, result)
    return f"No answer after {input['max_calls']} calls."


def schemas(server: mcp.McpSession) -> Iterator[dict[str, Any]]:
    """The server's tools as chat templates know them."""
    for tool in json.loads(server.list_tools())["tools"]:
        function = {"name": tool["name"], "description": tool["description"], "parameters": tool["inputSchema"]}
        yield {"type": "function", "function": function}


def observe(server: mcp.McpSession, name: str, arguments: str) -> str:
    """What a tool answers, as text. That it failed is something to read, too."""
    result = json.loads(server.call_tool(name, arguments))
    return "\n".join(part["text"] for part in result["content"] if part["type"] == "text")


async def turn(context: Context) -> tuple[str, list[tuple[str, str]]]:
    """The model's turn: its thoughts are sent, what it says and the tools it calls are given back."""
    decoders = chat.Decoder(context.model), reasoning.Decoder(context.model), tools.Decoder(context.model)
    answer = ""
    called: list[tuple[str, str]] = []
    async for step in context.generate(Sampler.argmax(), max_tokens=96):
        output = await step.execute()
        for event in (decoder.feed(output.tokens) for decoder in decoders):
            match event:
                case chat.Event.Delta(text=text):
                    answer += text
                case reasoning.Event.End(text=thought):
                    session.send(f"Thought: {thought.strip()}\n")
                case tools.Event.Call(name=name, args=arguments):
                    called.append((name, arguments))
                case _:
                    pass
    return answer.strip(), called
