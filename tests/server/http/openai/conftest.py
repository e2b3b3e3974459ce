"""pie-tiny, or another model, behind a server, and the official clients that ask it."""

import json
import queue
import urllib.request
from functools import partial

import anthropic
import ollama
import openai
import pytest

from pie_mlx.runtime.engine import Engine
from pie_mlx.runtime.registry import User
from pie_mlx.server import Server
from tests.server.running import RunningServer

MODEL = "pie-tiny"
WEATHER = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "The weather",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}
HELLO = [{"role": "user", "content": "Hello"}]
ADMIN = User("root", admin=True)


def tiny_engine(on_event, resolve, directory=MODEL, **options):
    return Engine(directory, on_event=on_event, resolve=resolve, **options)


class TinyServer(RunningServer):
    """Serves pie-tiny and keeps the engine's events."""

    def __init__(self, home, total_pages=512, name=MODEL, **options):
        super().__init__(home)
        self.events = queue.Queue()
        self._make = partial(
            Server,
            self.settings,
            partial(tiny_engine, total_pages=total_pages, name=name, **options),
            home=self.home,
            model=name,
            observers=[self.events.put],
            announces=False,
        )

    def seen(self):
        """The events so far, all of those of requests that were answered."""
        self.call(self._quiet())
        found = []
        while not self.events.empty():
            found.append(self.events.get())
        return found

    async def _quiet(self):
        for record in self.server.service.registry.records(ADMIN):
            await record.ended.wait()

    def wait_for(self, kind):
        while not isinstance(event := self.events.get(timeout=20), kind):
            pass
        return event


@pytest.fixture(scope="package")
def server(tmp_path_factory):
    running = TinyServer(tmp_path_factory.mktemp("home")).start()
    yield running
    running.stop()


@pytest.fixture(scope="package")
def client(server):
    with openai.OpenAI(base_url=f"{server.http}/v1", api_key="any", max_retries=0) as connected:
        yield connected


@pytest.fixture(scope="package")
def claude(server):
    with anthropic.Anthropic(base_url=server.http, api_key="any", max_retries=0) as connected:
        yield connected


@pytest.fixture(scope="package")
def llama(server):
    with ollama.Client(server.http) as connected:
        yield connected


def sent(server, path, body):
    """The JSON objects of an answer as they are sent: one, or those of a stream, without comments."""
    request = urllib.request.Request(f"{server.http}{path}", json.dumps(body).encode())
    with urllib.request.urlopen(request) as answer:
        lines = answer.read().decode().splitlines()
        if answer.headers["content-type"].startswith("text/event-stream"):
            lines = [line.removeprefix("data: ") for line in lines if line.startswith("data: {")]
    return [json.loads(line) for line in lines]


@pytest.fixture(scope="package")
def post(server):
    return partial(sent, server)


@pytest.fixture
def ask(client):
    """A greedy chat request."""

    def create(messages="Say hello", **options):
        if isinstance(messages, str):
            messages = [{"role": "user", "content": messages}]
        options = {"model": MODEL, "temperature": 0, "max_tokens": 60, **options}
        return client.chat.completions.create(messages=messages, **options)

    return create
