"""Random launches, kills, suspensions and disconnects for a while, then a count of what is left over.

    python -m benchmarks.soak [--seconds 600] [--seed 0]

Programs decode, fork, suspend themselves, wait for their client, launch children, message each other, crash and hang,
on a null model in a pool that is too small for all of them. At the end nothing may be left: no page, no account, no
process, no file descriptor, no thread, no task. Exits with 1 if something is.
"""

import argparse
import asyncio
import os
import random
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass, fields
from pathlib import Path

import psutil

from pie_mlx import Engine, Process
from pie_mlx.engine.services import Services
from pie_mlx.runtime.outcome import Failed, Outcome
from pie_mlx.runtime.worker.settings import WorkerSettings

CROWD = 24
"""Most programs that are launched and not over."""

WARM_UP_SECONDS = 8.0
"""Pools of threads that are made when first needed, and stay, must not count as left over."""

PREAMBLE = "import asyncio\nfrom inferlet import Context, Model, Sampler, messaging, runtime, session\n"

PROGRAMS = {
    "decode": """
        with Context(Model.load(runtime.models()[0])) as context:
            context.append(range(10 + input["number"] % 60))
            await context.generate(Sampler.argmax(), max_tokens=60, auto_flush=False).collect_tokens()
    """,
    "fork": """
        root = Context(Model.load(runtime.models()[0]))
        root.append(range(40))
        await root.flush()
        branches = [root.fork() for _ in range(3)]
        await asyncio.gather(
            *(branch.generate(Sampler.top_p(0.9, 0.9), max_tokens=20, auto_flush=False).collect_tokens()
              for branch in branches if not branch.append([7]) is None)
        )
    """,
    "suspend": """
        context = Context(Model.load(runtime.models()[0]))
        for _ in range(4):
            context.append(range(30))
            await context.flush()
            context.suspend()
    """,
    "receive": """
        Context(Model.load(runtime.models()[0])).append(range(20))
        session.send(await session.receive())
    """,
    "parent": """
        children = [runtime.launch("decode.py", {"number": number}) for number in range(2)]
        await asyncio.gather(*(child.result() for child in children))
    """,
    "message": """
        subscription = messaging.subscribe("news")
        messaging.broadcast("news", "hello")
        messaging.push("queue", "x")
        await messaging.pull("queue")
        subscription.unsubscribe()
    """,
    "crash": """
        Context(Model.load(runtime.models()[0])).append(range(20))
        raise RuntimeError("as asked")
    """,
    "hang": """
        await Context(Model.load(runtime.models()[0])).append(range(20)).flush()
        while True:
            pass
    """,
}


@dataclass(frozen=True)
class Left:
    """What is there: in the engine, and of this interpreter."""

    used_pages: int
    processes_in_engine: int
    accounts: int
    child_processes: int
    file_descriptors: int
    threads: int
    tasks: int

    def beyond(self, before: "Left") -> dict[str, int]:
        """What has become more."""
        more = {field.name: getattr(self, field.name) - getattr(before, field.name) for field in fields(self)}
        return {name: count for name, count in more.items() if count > 0}


def write_programs(directory: Path) -> list[Path]:
    """Each program as a file; a child is found beside its parent."""
    for name, body in PROGRAMS.items():
        (directory / f"{name}.py").write_text(f"{PREAMBLE}\nasync def main(input):{body}")
    return [directory / f"{name}.py" for name in PROGRAMS]


def _books(services: Services) -> tuple[int, int, int]:
    services.store.check_integrity()
    return services.store.usage().used, len(services.processes), len(services.families)


async def left(engine: Engine) -> Left:
    """A count, once what was released has settled."""
    used, processes, accounts = await engine.consult(_books)
    this = psutil.Process()
    children = len(this.children(recursive=True))
    # asyncio's own pool makes threads up to a bound, whenever it finds none idle.
    threads = [thread.name for thread in threading.enumerate() if not thread.name.startswith("asyncio_")]
    return Left(used, processes, accounts, children, this.num_fds(), len(threads), len(asyncio.all_tasks()))


class Soak:
    """A crowd of programs, and somebody who disturbs them."""

    def __init__(self, engine: Engine, programs: list[Path], seed: int) -> None:
        self._engine, self._programs = engine, programs
        self._random = random.Random(seed)
        self._crowd: dict[Process, asyncio.Task[Outcome]] = {}
        self.endings: Counter[str] = Counter()

    async def run(self, seconds: float) -> None:
        """Disturb at random moments, then end everybody."""
        ends = time.monotonic() + seconds
        while time.monotonic() < ends:
            await self._disturb()
            await asyncio.sleep(self._random.expovariate(50))
        for process in self._crowd:
            process.cancel()
        await self._see_off(list(self._crowd))
        # Warm workers that were killed are replaced after the next launch.
        await self._engine.run(self._programs[0], {"number": 0})

    async def _disturb(self) -> None:
        """One random thing."""
        deed = self._random.choices(
            [self._launch, self._kill_worker, self._cancel, self._disconnect, self._send], [12, 1, 1, 2, 3]
        )[0]
        await deed()
        await self._see_off([process for process, ending in self._crowd.items() if ending.done()])

    async def _see_off(self, over: list[Process]) -> None:
        for process in over:
            outcome = await self._crowd.pop(process)
            self.endings[outcome.error_type if isinstance(outcome, Failed) else "returned"] += 1

    def _anybody(self) -> list[Process]:
        return [self._random.choice(list(self._crowd))] if self._crowd else []

    async def _launch(self) -> None:
        if len(self._crowd) < CROWD:
            program, number = self._random.choice(self._programs), self._random.randrange(1000)
            process = await self._engine.launch(program, {"number": number}, capture_output=True)
            self._crowd[process] = asyncio.create_task(process.outcome())

    async def _kill_worker(self) -> None:
        servers = psutil.Process().children()
        workers = [child for server in servers for child in server.children(recursive=True)]
        if workers:
            try:
                os.kill(self._random.choice(workers).pid, signal.SIGKILL)
            except ProcessLookupError:
                self.endings["missed"] += 1

    async def _cancel(self) -> None:
        for process in self._anybody():
            process.cancel()

    async def _disconnect(self) -> None:
        for process in self._anybody():
            process.close_session()

    async def _send(self) -> None:
        for process in self._anybody():
            process.send("go on")


async def soak(seconds: float, seed: int) -> tuple[Counter[str], dict[str, int]]:
    """How programs ended, and what was left over afterwards that was not there before."""
    with tempfile.TemporaryDirectory() as directory:
        workers = WorkerSettings(watchdog_seconds=1.0, warm_workers=2)
        programs = write_programs(Path(directory))
        async with Engine(
            dummy=True, total_pages=96, isolation="process", workers=workers, spill_directory=f"{directory}/spill"
        ) as engine:
            await Soak(engine, programs, seed).run(WARM_UP_SECONDS)
            before = await settled(engine)
            crowd = Soak(engine, programs, seed + 1)
            await crowd.run(seconds)
            return crowd.endings, (await settled(engine)).beyond(before)


async def settled(engine: Engine, tries: int = 100) -> Left:
    """The count once it stays the same: released things go, warm workers come."""
    last, same = await left(engine), 0
    for _ in range(tries):
        await asyncio.sleep(0.05)
        now = await left(engine)
        same = same + 1 if now == last else 0
        last = now
        if same == 10:
            break
    return last


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    endings, leaked = asyncio.run(soak(options.seconds, options.seed))
    print(f"{sum(endings.values())} programs ended: " + ", ".join(f"{n} {how}" for how, n in endings.most_common()))
    print("left over: " + (", ".join(f"{count} {what}" for what, count in leaked.items()) or "nothing"))
    sys.exit(bool(leaked))


if __name__ == "__main__":
    main()
