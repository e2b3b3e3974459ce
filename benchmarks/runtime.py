"""What it costs that programs run in processes of their own: `python -m benchmarks.runtime`.

On the null model, without and with the sandbox: from `launch` to the program's first host call (cold: the first of an
engine; warm; many at once), a host call and a decode step inline and in a worker, messages from one program to another
and back to the client, many programs decoding at once, and the memory only an idle worker uses. Times are wall clock,
so other programs on the machine count.
"""

import argparse
import asyncio
import os
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from statistics import median

from pie_mlx import Engine
from pie_mlx.runtime.worker.settings import Isolation, SandboxMode, WorkerSettings

SMOKE = ("--launches", "1", "--at-once", "2", "--messages", "20", "--programs", "2", "--steps", "2", "--rounds", "1")
TARGETS = {"warm": 30.0, "step": 0.1, "idle": 25.0}
"""Milliseconds, milliseconds more than inline, and MiB."""

FIRST_CALL = """
import time
from inferlet import runtime
async def main(input):
    runtime.username()
    return time.monotonic()
"""
ROUND_TRIPS = """
import time
from statistics import median
from inferlet import Context, Model, Sampler, runtime
async def main(input):
    calls, steps = [], []
    for _ in range(input["count"]):
        started = time.perf_counter()
        runtime.username()
        calls.append(time.perf_counter() - started)
    with Context(Model.load(runtime.models()[0])) as context:
        context.append(range(8))
        generator = context.generate(Sampler.argmax(), max_tokens=input["count"], auto_flush=False)
        started = time.perf_counter()
        async for step in generator:
            await step.execute()
            steps.append(time.perf_counter() - started)
            started = time.perf_counter()
    return [median(calls), median(steps)]
"""
PUSHER = """
from inferlet import messaging
def main(input):
    for number in range(input["count"]):
        messaging.push("figures", "x" * 64)
"""
PULLER = """
import time
from inferlet import messaging
async def main(input):
    await messaging.pull("figures")
    started = time.monotonic()
    for _ in range(input["count"] - 1):
        await messaging.pull("figures")
    return (input["count"] - 1) / (time.monotonic() - started)
"""
BROADCASTER = """
from inferlet import messaging
def main(input):
    for number in range(input["count"]):
        messaging.broadcast("news", "x" * 64)
    messaging.broadcast("news", "end")
"""
LISTENER = """
import time
from inferlet import messaging, session
async def main(input):
    news = messaging.subscribe("news")
    session.send("ready")
    await news.next()
    started, heard = time.monotonic(), 0
    async for text in news:
        if text == "end":
            return heard / (time.monotonic() - started)
        heard += 1
"""
SENDER = """
from inferlet import session
def main(input):
    for number in range(input["count"]):
        session.send("x" * 64)
"""
DECODE = """
import time
from inferlet import Context, Model, Sampler, runtime
async def main(input):
    seconds = []
    with Context(Model.load(runtime.models()[0])) as context:
        context.append(range(8))
        generator = context.generate(Sampler.argmax(), max_tokens=input["steps"], auto_flush=False)
        started = time.perf_counter()
        async for step in generator:
            await step.execute()
            seconds.append(time.perf_counter() - started)
            started = time.perf_counter()
    return seconds
"""


PARTS = ("launches", "round-trips", "messages", "crowd", "memory")


class Programs:
    """The programs measured, as files."""

    def __init__(self, directory: Path) -> None:
        self.first_call = self._write(directory / "first.py", FIRST_CALL)
        self.round_trips = self._write(directory / "trips.py", ROUND_TRIPS)
        self.decode = self._write(directory / "decode.py", DECODE)
        self.pusher = self._write(directory / "pusher.py", PUSHER)
        self.puller = self._write(directory / "puller.py", PULLER)
        self.broadcaster = self._write(directory / "broadcaster.py", BROADCASTER)
        self.listener = self._write(directory / "listener.py", LISTENER)
        self.sender = self._write(directory / "sender.py", SENDER)

    def _write(self, path: Path, source: str) -> Path:
        path.write_text(source)
        return path


def engine(isolation: Isolation, sandbox: SandboxMode, warm_workers: int = 2) -> Engine:
    workers = WorkerSettings(sandbox=sandbox, warm_workers=warm_workers)
    return Engine(dummy=True, total_pages=4096, seed=1, max_batch_contexts=256, isolation=isolation, workers=workers)


async def first_call_seconds(running: Engine, program: Path) -> float:
    """From the call of `launch` to the answer of the program's first call."""
    started = time.monotonic()
    return await running.run(program) - started


async def launches(
    programs: Programs, isolation: Isolation, sandbox: SandboxMode, count: int, at_once: int
) -> list[str]:
    async with engine(isolation, sandbox) as running:
        cold = await first_call_seconds(running, programs.first_call)
        warm: list[float] = []
        for _ in range(count):
            await asyncio.sleep(0.1)  # time for the pool to be filled again
            warm.append(await first_call_seconds(running, programs.first_call))
        many = await asyncio.gather(*(first_call_seconds(running, programs.first_call) for _ in range(at_once)))
    target = f"  target {TARGETS['warm']:g}" if isolation == "process" else ""
    return [
        row("launch, cold", isolation, sandbox, f"{cold * 1e3:.1f} ms"),
        row("launch, warm", isolation, sandbox, f"{spread(warm)}{target}"),
        row(f"launch, {at_once} at once", isolation, sandbox, spread(many)),
    ]


async def round_trips(programs: Programs, sandbox: SandboxMode, count: int, rounds: int) -> list[str]:
    """Alternately inline and in a worker, so that both see the same machine; medians of medians."""
    found: dict[Isolation, list[list[float]]] = {"inline": [], "process": []}
    async with engine("inline", sandbox) as inline, engine("process", sandbox) as process:
        both: list[tuple[Isolation, Engine]] = [("inline", inline), ("process", process)]
        for _ in range(rounds):
            for name, running in both:
                found[name].append(await running.run(programs.round_trips, {"count": count}))
    rows: list[str] = []
    for place, what in enumerate(("host call", "decode step")):
        medians = {name: median(pair[place] for pair in pairs) for name, pairs in found.items()}
        added = (medians["process"] - medians["inline"]) * 1e3
        rows += [row(what, name, sandbox, f"{seconds * 1e3:.3f} ms") for name, seconds in medians.items()]
        target = f"  target {TARGETS['step']:g}" if place else ""
        rows.append(row(f"{what}, added", "process", sandbox, f"{added:.3f} ms{target}"))
    return rows


BROADCASTS = 1000
"""No more than a subscription keeps: a listener that is slower loses none."""


async def messages(programs: Programs, isolation: Isolation, sandbox: SandboxMode, count: int) -> list[str]:
    """Messages a second: through a queue from one program to another, to ten subscribers, and to the client."""
    async with engine(isolation, sandbox, warm_workers=4) as running:
        pulled, _ = await asyncio.gather(
            running.run(programs.puller, {"count": count}), running.run(programs.pusher, {"count": count})
        )
        heard = await broadcast_rates(running, programs)
        started = time.perf_counter()
        received = 0

        def receive(message: object) -> None:
            nonlocal received
            received += 1

        await running.run(programs.sender, {"count": count}, on_message=receive)
        sent = received / (time.perf_counter() - started)
    return [
        row("messages, queue", isolation, sandbox, f"{pulled:,.0f} messages/s"),
        row("messages, 10 subscribers", isolation, sandbox, f"{sum(heard):,.0f} messages/s"),
        row("messages, to the client", isolation, sandbox, f"{sent:,.0f} messages/s with the launch"),
    ]


async def broadcast_rates(running: Engine, programs: Programs) -> list[float]:
    """What each of ten subscribers of one broadcaster reads a second."""
    ready = asyncio.Semaphore(0)
    listeners = [
        asyncio.create_task(running.run(programs.listener, on_message=lambda message: ready.release()))
        for _ in range(10)
    ]
    for _ in listeners:
        await ready.acquire()
    await running.run(programs.broadcaster, {"count": BROADCASTS})
    return await asyncio.gather(*listeners)


async def crowd(programs: Programs, isolation: Isolation, sandbox: SandboxMode, size: int, steps: int) -> list[str]:
    async with engine(isolation, sandbox) as running:
        await running.run(programs.decode, {"steps": 1})
        started = time.perf_counter()
        found = await asyncio.gather(*(running.run(programs.decode, {"steps": steps}) for _ in range(size)))
        seconds = time.perf_counter() - started
    times = sorted(step for program in found for step in program)
    p99 = times[int(len(times) * 0.99)]
    text = f"{len(times) / seconds:,.0f} steps/s, step {median(times) * 1e3:.1f} ms, p99 {p99 * 1e3:.1f} ms"
    return [row(f"{size} programs x {steps} steps", isolation, sandbox, text)]


async def idle_memory(programs: Programs, sandbox: SandboxMode) -> list[str]:
    """Bytes nobody else shares, of workers that wait for their order. Linux only."""
    if sys.platform != "linux":
        return []
    async with engine("process", sandbox, warm_workers=8) as running:
        await running.run(programs.first_call)
        await asyncio.sleep(0.5)
        pool = running._workers  # pyright: ignore[reportPrivateUsage]
        assert pool is not None
        unique = [unique_bytes(pid) for pid in pool.idle_process_ids()]
    text = f"{median(unique) / (1 << 20):.1f} MiB unique  target {TARGETS['idle']:g}"
    return [row(f"idle worker, of {len(unique)}", "process", sandbox, text)]


def unique_bytes(process_id: int) -> int:
    lines = Path(f"/proc/{process_id}/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) << 10 for line in lines if line.startswith(("Private_Clean", "Private_Dirty")))


def spread(seconds: Sequence[float]) -> str:
    ordered = sorted(seconds)
    return f"{median(ordered) * 1e3:.1f} ms, p90 {ordered[int(len(ordered) * 0.9)] * 1e3:.1f} ms"


def row(what: str, isolation: str, sandbox: str, value: str) -> str:
    walls = sandbox if isolation == "process" else "-"
    return f"{what:26} {isolation:8} {walls:12} {value}"


async def measure(options: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory() as directory:
        programs = Programs(Path(directory))
        sections: list[tuple[str, Callable[[], Awaitable[list[str]]]]] = [
            ("launches", lambda: launches(programs, "inline", "off", options.launches, options.at_once)),
            ("launches", lambda: launches(programs, "process", "off", options.launches, options.at_once)),
            ("launches", lambda: launches(programs, "process", "best-effort", options.launches, options.at_once)),
            ("round-trips", lambda: round_trips(programs, "best-effort", options.steps * 4, options.rounds)),
            ("messages", lambda: messages(programs, "inline", "off", options.messages)),
            ("messages", lambda: messages(programs, "process", "best-effort", options.messages)),
            ("crowd", lambda: crowd(programs, "inline", "off", options.programs, options.steps)),
            ("crowd", lambda: crowd(programs, "process", "best-effort", options.programs, options.steps)),
            ("memory", lambda: idle_memory(programs, "best-effort")),
        ]
        print(f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}")
        print(row("", "runs", "sandbox", ""))
        for part, section in sections:
            for line in await section() if part in options.parts else ():
                print(line, flush=True)


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--launches", type=int, default=30, help="warm launches")
    parser.add_argument("--at-once", type=int, default=100, help="launches at once")
    parser.add_argument("--rounds", type=int, default=7, help="of round trips")
    parser.add_argument("--messages", type=int, default=5000, help="messages to one reader")
    parser.add_argument("--programs", type=int, default=200, help="programs that decode at once")
    parser.add_argument("--steps", type=int, default=50, help="decode steps of each")
    asyncio.run(measure(parser.parse_args(words)))


if __name__ == "__main__":
    main()
