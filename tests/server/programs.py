"""What the tests upload and launch."""

PLAYER = """
import asyncio
import sys
from inferlet import Context, Model, Sampler, mcp, runtime, session

async def main(input):
    match input.get("do", "echo"):
        case "echo":
            session.send(await session.receive())
        case "talk":
            print("out")
            print("err", file=sys.stderr)
            session.send({"a": 1})
            return {"done": True}
        case "count":
            for number in range(input["n"]):
                session.send(str(number))
            return "counted"
        case "file":
            session.send_file((await session.receive_file())[::-1], "back.bin")
            return "sent"
        case "files":
            for number in range(input["n"]):
                session.send_file(bytes([number]) * input["size"], f"{number}.bin")
            return "sent"
        case "wait":
            session.send("waiting")
            await asyncio.Event().wait()
        case "generate":
            if input.get("waits"):
                await session.receive()
            with Context(Model.load(runtime.models()[0])) as context:
                context.append(range(20))
                tokens = await context.generate(Sampler.argmax(), max_tokens=4, auto_flush=False).collect_tokens()
            return len(tokens)
        case "mcp":
            found = mcp.available_servers()
            server = mcp.connect(found[0])
            return server.call_tool("add", '{"a": 1, "b": 2}')
        case "child":
            return await runtime.launch("player", {"do": input["child"]}).result()
        case "who":
            return runtime.username()
        case "fail":
            raise ValueError("no")
        case "value":
            return input["value"]
"""
