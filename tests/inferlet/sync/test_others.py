"""Messaging and children, blocking, on an engine."""

import asyncio
from pathlib import Path

from inferlet.sync import mcp, messaging, runtime
from pie_mlx import Engine


def talk(child: str) -> list[object]:
    messaging.push("q", {"n": 1})
    pulled = messaging.pull("q")
    with messaging.subscribe("t") as sub:
        messaging.broadcast("t", "a")
        messaging.broadcast("t", "b")
        read = [sub.get(), next(iter(sub)), sub.get(), sub.dropped]
    launched = runtime.spawn(child, "hi")
    result = launched.result()
    launched.cancel()
    return [pulled, read, list(sub), result, mcp.available_servers()]


async def test_a_blocking_program_talks_to_others(tmp_path: Path) -> None:  # Y1
    child = tmp_path / "child.py"
    child.write_text("async def main(input):\n    return input\n")

    async def main(input):
        return await asyncio.to_thread(talk, str(child))

    async with Engine(dummy=True, total_pages=64) as engine:
        answer = await engine.run(main)
    assert answer == ['{"n":1}', ["a", "b", None, 0], [], {"input": "hi"}, []]
