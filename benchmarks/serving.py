"""Chat completions over HTTP, and an agent loop, beside `mlx_lm.server`, on one random Llama in one run.

    python -m benchmarks.serving [--new-tokens 64] [--turns 4] [--repeats 3] [--clients 1 8 32] [--agents 1 16]
                                 [--kinds questions streamed conversations] [--loops plain framed] [--calls 8]
                                 [--rules 75]

An empty `--clients` or `--agents` leaves that part out.

Both servers use the same weights in float32 and the same BLAS, may use as many of its threads, and keep their defaults,
mlx-lm's cache of 10 prompts among them. Only one of them is asked at a time; rounds alternate, and the one
with the median ratio counts.

A client asks unrelated questions, or goes on with one conversation, as chat clients do: each request carries all that
was said. The agent loop makes 8 tool calls after a system prompt of about 1,000 tokens: as a program beside the model,
and as a loop of a client that sends the conversation each time. A program may also write by itself what every call
begins and ends with, and let the model write only what is between; nobody can do that over HTTP.
"""

import argparse
import asyncio
import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.random_llama import write_random_llama
from inferlet import Context, Model, Sampler, runtime
from pie_mlx import Engine
from pie_mlx.backends import current_backend
from pie_mlx.bench.comparison import median_round
from pie_mlx.events import Event, PassCompleted

SMOKE = (
    *("--new-tokens", "2", "--turns", "1", "--repeats", "1", "--clients", "1", "--agents", "1"),
    *("--kinds", "streamed", "--loops", "framed", "--calls", "1", "--rules", "2"),
)
PEER = "from pie_mlx.backends import current_backend as c; c().prepare(); from mlx_lm.server import main; main()"
"""mlx-lm's own server, with the BLAS that pie-mlx uses."""
READY_SECONDS = 120
CALL_TOKENS = 24
OPENING, CLOSING = '<tool_call>{"name": "weather", "arguments": {"city": "', '"}}</tool_call>'
"""Of a call: about 14 of its tokens."""
CITY_TOKENS = 10
RESULT = "The tool answers: 21 degrees, light wind from the west, no rain before the evening."
KINDS = {
    "questions": {"stream": False},
    "streamed": {"stream": True},
    "conversations": {"stream": False, "talks": True},
}
"""What clients ask: unrelated questions, the same as streams, or one conversation that goes on."""

LOOPS = ("plain", "framed")
"""The agent's program: the client's loop as it is, or with calls framed by it."""


@dataclass(frozen=True)
class Task:
    """What an agent does: calls of a tool, after a system prompt of so many rules."""

    calls: int
    rules: int

    @property
    def system(self) -> str:
        rules = (f"Rule {number}: check result {number} twice." for number in range(self.rules))
        return " ".join(("You are a careful agent.", *rules))


@dataclass(frozen=True)
class Server:
    """One that listens, and what it calls the model."""

    port: int
    model: str

    async def ask(self, messages: Sequence[dict[str, str]], new_tokens: int, *, stream: bool = False) -> dict[str, Any]:
        """The answer; of a stream its last event."""
        body = {"model": self.model, "messages": messages, "max_tokens": new_tokens, "temperature": 0, "stream": stream}
        if stream:
            body["stream_options"] = {"include_usage": True}
        status, data = await exchange(self.port, "POST", "/v1/chat/completions", json.dumps(body).encode())
        if status != 200:
            raise RuntimeError(f"port {self.port}: {status}: {data[:500]!r}")
        return json.loads(data.split(b"data: ")[-2] if stream else data)


async def exchange(port: int, method: str, path: str, body: bytes = b"") -> tuple[int, bytes]:
    """One request on a connection of its own: status and body."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n"
    writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
    answer = await reader.read()
    writer.close()
    fields, _, rest = answer.partition(b"\r\n\r\n")
    return int(fields.split()[1]), dechunked(rest) if b"chunked" in fields.lower() else rest


def dechunked(data: bytes) -> bytes:
    found: list[bytes] = []
    while data:
        size, _, data = data.partition(b"\r\n")
        length = int(size, 16)
        found.append(data[:length])
        data = data[length + 2 :]
    return b"".join(found)


@contextlib.contextmanager
def running(command: Sequence[str], port: int, home: Path) -> Iterator[None]:
    """A server process, ended at the end."""
    environment = {**os.environ, "PIE_HOME": str(home), "HF_HUB_OFFLINE": "1"}
    with (home / f"{port}.log").open("wb") as log:
        process = subprocess.Popen([sys.executable, *command], stdout=log, stderr=log, env=environment)
    try:
        yield
    finally:
        process.terminate()
        process.wait()


async def ready(port: int, model: str = "") -> Server:
    """The server at `port` once it answers."""
    async with asyncio.timeout(READY_SECONDS):
        while True:
            with contextlib.suppress(OSError, IndexError, ValueError):
                _, data = await exchange(port, "GET", "/v1/models")
                return Server(port, model or json.loads(data)["data"][0]["id"])
            await asyncio.sleep(0.2)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as bound:
        return int(bound.getsockname()[1])


def question(client: int, number: int) -> list[dict[str, str]]:
    words = " ".join(str((client * 7919 + number * 104729 + place) % 1000) for place in range(24))
    return [{"role": "user", "content": f"Repeat these numbers: {words}"}]


async def load(
    server: Server, clients: int, turns: int, new_tokens: int, round: int, *, stream: bool, talks: bool = False
) -> float:
    """Generated tokens per second with so many clients at once, each asking again when it has its answer.

    With `talks` what it asks goes on with what was said.
    """

    async def one(client: int) -> int:
        tokens, said = 0, list[dict[str, str]]()
        for turn in range(turns):
            asked = [*said, *question(client + 100 * round, turn)]
            answer = await server.ask(asked, new_tokens, stream=stream and not talks)
            tokens += answer["usage"]["completion_tokens"]
            said = [*asked, spoken(answer)] if talks else []
        return tokens

    started = time.perf_counter()
    tokens = sum(await asyncio.gather(*(one(client) for client in range(clients))))
    return tokens / (time.perf_counter() - started)


def spoken(answer: dict[str, Any]) -> dict[str, str]:
    """What the model said, as the next request tells it."""
    return {"role": "assistant", "content": answer["choices"][0]["message"]["content"] or ""}


async def client_loop(server: Server, agents: int, given: Task, round: int) -> tuple[float, int]:
    """Seconds, and tokens the server had to prefill."""
    started = time.perf_counter()
    prefilled = await asyncio.gather(*(client_agent(server, given, task(agent, round)) for agent in range(agents)))
    return time.perf_counter() - started, sum(prefilled)


async def client_agent(server: Server, given: Task, task: str) -> int:
    messages = [{"role": "system", "content": given.system}, {"role": "user", "content": task}]
    prefilled = 0
    for _ in range(given.calls):
        answer = await server.ask(messages, CALL_TOKENS)
        usage = answer["usage"]
        prefilled += usage["prompt_tokens"] - (usage.get("prompt_tokens_details") or {}).get("cached_tokens", 0)
        messages += [spoken(answer), {"role": "user", "content": RESULT}]
    return prefilled


def task(agent: int, round: int) -> str:
    return f"Task {agent} of round {round}: begin."


async def agent_program(input: dict[str, Any]) -> None:
    """The same loop as a program: it keeps its context, so that only what is new is computed."""
    model = Model.load(runtime.models()[0])
    with Context(model) as context:
        context.system(input["system"]).user(input["task"])
        for _ in range(input["calls"]):
            if input["frames"]:
                await framed_call(context)
            else:
                await context.generate(Sampler.argmax(), max_tokens=CALL_TOKENS, stop=[]).collect_tokens()
            context.seal().user(RESULT)


async def framed_call(context: Context) -> None:
    """What is the same in every call is read in one step, not written token by token."""
    encode = context.model.tokenizer().encode
    context.cue().append(encode(OPENING))
    await context.generate(Sampler.argmax(), max_tokens=CITY_TOKENS, stop=[], auto_flush=False).collect_tokens()
    context.append(encode(CLOSING))


async def program_loop(
    engine: Engine, passes: list[PassCompleted], agents: int, given: Task, round: int, *, frames: bool
) -> tuple[float, int]:
    passes.clear()
    started = time.perf_counter()
    fixed = {"frames": frames, "calls": given.calls, "system": given.system}
    inputs = ({"task": task(agent, round), **fixed} for agent in range(agents))
    await asyncio.gather(*(engine.run(agent_program, input) for input in inputs))
    # One of the computed tokens of a pass that reads is the token drawn before it, unless a turn was written.
    computed = (event.computed_tokens - event.following for event in passes)
    prefilled = sum(tokens for tokens in computed if tokens > 1)
    return time.perf_counter() - started, prefilled


async def alternating(
    theirs: Callable[[int], Awaitable[Any]], ours: Callable[[int], Awaitable[Any]], repeats: int
) -> tuple[list[Any], list[Any]]:
    """Both sides in turns, after one round each that does not count."""
    await theirs(0)
    await ours(0)
    found: tuple[list[Any], list[Any]] = ([], [])
    for round in range(1, repeats + 1):
        found[0].append(await theirs(round))
        found[1].append(await ours(round))
    return found


def row(name: str, theirs: Sequence[float], ours: Sequence[float], *, lower: bool = False) -> None:
    peer, mine = median_round(zip(theirs, ours, strict=True))
    print(f"{name:44} {peer:12,.2f} {mine:12,.2f} {peer / mine if lower else mine / peer:7.2f}x")


async def compare(directory: Path, ports: tuple[int, int], arguments: argparse.Namespace) -> None:
    peer, mine = await ready(ports[0], str(directory)), await ready(ports[1])
    print(f"{'7.5M-parameter random Llama, float32, greedy':44} {'mlx-lm':>12} {'pie-mlx':>12}")
    for clients in arguments.clients:
        for name in arguments.kinds:
            kind = KINDS[name]
            share = (clients, arguments.turns, arguments.new_tokens)
            found = await alternating(
                lambda round, share=share, kind=kind: load(peer, *share, round, **kind),
                lambda round, share=share, kind=kind: load(mine, *share, round, **kind),
                arguments.repeats,
            )
            row(f"{clients} clients, {name}, tok/s", *found)
    for agents in arguments.agents:
        await compare_agents(directory, peer, agents, arguments)


async def compare_agents(directory: Path, peer: Server, agents: int, arguments: argparse.Namespace) -> None:
    given = Task(arguments.calls, arguments.rules)
    passes: list[PassCompleted] = []

    def note(event: Event) -> None:
        if isinstance(event, PassCompleted):
            passes.append(event)

    async with Engine(directory, total_pages=2048, on_event=note) as engine:
        for loop in arguments.loops:
            frames = loop == "framed"
            first = 1000 * frames  # no task twice
            theirs, ours = await alternating(
                lambda round, first=first: client_loop(peer, agents, given, first + round),
                lambda round, first=first, frames=frames: program_loop(
                    engine, passes, agents, given, first + round, frames=frames
                ),
                arguments.repeats,
            )
            name = f"{agents} agents of {given.calls} calls{', framed by it' if frames else ''}"
            row(f"{name}, s", [one[0] for one in theirs], [one[0] for one in ours], lower=True)
            row("  tokens prefilled", [one[1] for one in theirs], [one[1] for one in ours], lower=True)


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--new-tokens", type=int, default=64)
    parser.add_argument("--turns", type=int, default=4)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--clients", type=int, nargs="*", default=[1, 8, 32])
    parser.add_argument("--agents", type=int, nargs="*", default=[1, 16])
    parser.add_argument("--calls", type=int, default=8, help="of tools by an agent")
    parser.add_argument("--rules", type=int, default=75, help="that an agent is told, of 14 tokens each")
    parser.add_argument("--loops", choices=LOOPS, nargs="+", default=LOOPS)
    parser.add_argument("--kinds", choices=[*KINDS], nargs="+", default=[*KINDS])
    arguments = parser.parse_args(words)
    print(f"matrix products of both: {current_backend().prepare()}")
    with tempfile.TemporaryDirectory() as root:
        directory, home = Path(root, "llama"), Path(root, "home")
        directory.mkdir()
        home.mkdir()
        write_random_llama(directory, vocab_size=2048)  # its tokenizer's: a reply of other ids is an error
        ports = free_port(), free_port()
        theirs = ["-c", PEER, "--model", str(directory), "--port", str(ports[0]), "--log-level", "WARNING"]
        ours = ["-m", "pie_mlx", "serve", "--port", str(ports[1]), "--model", str(directory)]
        with running(theirs, ports[0], home), running(ours, ports[1], home):
            asyncio.run(compare(directory, ports, arguments))


if __name__ == "__main__":
    main()
