"""One traced run of two programs, which prompt, fork, draw, call a tool and exchange messages."""

import asyncio
from pathlib import Path

import pytest

from inferlet import Context, Distribution, Model, Sampler, mcp, messaging, runtime
from pie_mlx import Engine
from pie_mlx.events import DETAIL_KINDS, Event
from pie_mlx.trace.file import Recorded
from tests.runtime.mcp.servers import small_server

CHILD = """
from inferlet import messaging

async def main(input):
    text = await messaging.pull("work")
    messaging.push("done", text + "!")
    return text
"""


async def agent(input):
    """Everything that a trace has a track for, but HTTP."""
    child = runtime.launch(input["child"])
    with Context(Model.load(runtime.models()[0])) as context:
        await context.append(list(range(40, 80))).flush()
        context.append([5])
        with context.fork() as fork:
            fork.append([7])
            scored = fork.generate(Sampler.multinomial(1.0).scored(), max_tokens=6, auto_flush=False)
            plain = context.generate(Sampler.argmax(), max_tokens=4, auto_flush=False)
            await asyncio.gather(scored.collect_tokens(), plain.collect_tokens())
            step = await anext(fork.append([9]).generate(Sampler.argmax(), max_tokens=1, auto_flush=False))
            step.probe(-1, Distribution(k=2))
            await step.execute()
    with mcp.connect("small") as server:
        server.call_tool("echo", {"text": "hi"})
    messaging.push("work", "job")
    answer = await messaging.pull("done")
    await child.result()
    return answer


async def _run(folder: Path) -> Recorded:
    events: list[Event] = []
    child = folder / "child.py"
    child.write_text(CHILD)
    options = {"dummy": True, "total_pages": 64, "seed": 1, "details": DETAIL_KINDS, "mcp": [small_server(folder)]}
    async with Engine(on_event=events.append, **options) as engine:
        assert await engine.run(agent, {"child": str(child)}) == "job!"
    return Recorded(events)


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    """The events of the run."""
    return asyncio.run(_run(tmp_path_factory.mktemp("traced")))
