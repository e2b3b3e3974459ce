import asyncio
import json

import pytest

from pie_mlx import Engine
from pie_mlx.events import ProcessFailed, ProcessReturned
from pie_mlx.runtime.program.program import find_program
from pie_mlx.runtime.registry import Launch, OutputLogs, Registry, RegistryLimits, User

PROGRAM = """
import asyncio
import sys
from inferlet import Context, Model, messaging, runtime, session

async def main(input):
    match input["do"]:
        case "echo":
            session.send(await session.receive())
        case "print":
            for number in range(input.get("n", 1)):
                session.send(f"line {number}")
            print("printed")
            return "done"
        case "pull":
            await messaging.pull("jobs")
        case "file":
            session.send_file((await session.receive_file())[::-1], "back.bin")
        case "wait":
            session.send("waiting")
            await asyncio.Event().wait()
        case "hold":
            context = Context(Model.load(runtime.models()[0]))
            context.append(range(40))
            await context.flush()
            session.send("holding")
            await session.receive()
        case "fail":
            raise ValueError("no")
"""

ADA, BOB, ADMIN = User("ada"), User("bob"), User("root", admin=True)


class Listener:
    """An attached client."""

    def __init__(self):
        self.events = []
        self.files = []
        self.changed = asyncio.Event()

    def deliver(self, event, data):
        self.events.append(event)
        if data:
            self.files.append(data)
        self.changed.set()

    def mcp_servers(self):
        return ["files"]

    async def mcp_request(self, process_id, server, method, params_json):
        return json.dumps([process_id, server, method, params_json])

    async def until(self, condition):
        while not condition(self.events):
            self.changed.clear()
            await self.changed.wait()
        return self.events

    async def message(self, text):
        await self.until(lambda events: text in texts(events))


def texts(events):
    return [event.text for event in events if hasattr(event, "text")]


def is_over(events):
    return bool(events) and isinstance(events[-1], ProcessReturned | ProcessFailed)


@pytest.fixture(scope="module", autouse=True)
def _program_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("programs") / "player.py"
    path.write_text(PROGRAM)
    Player.program = find_program(path)


class Player:
    """A registry over a running engine, and short ways to use it."""

    program = None

    def __init__(self, engine, registry):
        self.engine, self.registry = engine, registry

    def launch(self, input, *, user=ADA, listener=None, program=None, **options):
        (record,) = self.registry.admit(user, [Launch(program or self.program, input, **options)])
        if listener is not None:
            self.registry.attach(record, listener)
        self.registry.begin([record])
        return record


@pytest.fixture
async def make_player(tmp_path):
    async with Engine(dummy=True, total_pages=64, seed=1) as engine:
        made = []

        def make(**limits):
            logs = OutputLogs(tmp_path / "logs", lambda: 5.0)
            made.append(Registry(engine, model="dummy", limits=RegistryLimits(**limits), logs=logs))
            return Player(engine, made[-1])

        yield make
        for registry in made:
            await registry.stop()
            registry.check_integrity()


@pytest.fixture
def player(make_player):
    return make_player()
