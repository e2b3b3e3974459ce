"""Random launches, kills, suspensions and disconnects for a while, then a count of what is left over.

    python -m benchmarks.soak [--seconds 600] [--seed 0] [--store]

Programs decode, fork, suspend themselves, wait for their client, launch children, message each other, write files,
crash and hang, on a null model in a pool that is too small for all of them. Workers are killed, stopped and continued;
the disk that holds scratch, spill, logs and programs is full now and then; clients connect, launch and vanish. At the
end nothing may be left: no page, no account, no process, no file descriptor, no thread, no task, no connection. Memory
may not grow after the first two minutes. Exits with 1 if something is left or has grown.

With `--store` pie-tiny runs instead, with a disk cache that is bounded, removed now and then, and shared with an engine
in another process, which is killed again and again. At the end no file may be half-written, or not what it says.
"""

import argparse
import asyncio
import contextlib
import json
import os
import random
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, fields
from pathlib import Path

import msgspec
import psutil
from websockets.asyncio.client import connect
from websockets.exceptions import WebSocketException

from benchmarks.resident import TOLERANCE_MIB, Resident
from benchmarks.small_disk import SmallDisk, small_disk
from benchmarks.soak_store import Store
from pie_mlx import Engine, Process
from pie_mlx.engine.hosting.engine_time import THREADS
from pie_mlx.engine.services import Services
from pie_mlx.errors import PieError
from pie_mlx.events import Event
from pie_mlx.runtime.children import ResolveName
from pie_mlx.runtime.execution.outcome import Failed, Outcome
from pie_mlx.runtime.registry import RegistryLimits, User
from pie_mlx.runtime.worker.settings import WorkerSettings
from pie_mlx.server import Server, ServerSettings

CROWD = 24
"""Most programs that are launched and not over."""

VISITORS = 12
"""Most clients at once."""

LEVEL_SECONDS = 120.0
"""Until then memory may grow; in a shorter run a third of it."""

BUFFER_CACHE_BYTES = 32 << 20
"""Freed buffers that MLX keeps: a bound that is reached at once, so that what grows later is something else."""

ADMIN = User("soak", admin=True)

WARM_UP_SECONDS = 8.0

LAZY_THREADS = {"pie-spill": 1, "pie-aside": THREADS, "archive": 1}
"""Pools that make threads when they are first needed, and keep them: how many each has at most."""

MANIFEST = '[package]\nname = "{name}"\nversion = "1.0.0"\n'
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
    "write": """
        with open("/scratch/file", "ab") as file:
            for _ in range(8):
                file.write(bytes(1 << 19))
                await asyncio.sleep(0)
    """,
    "talk": """
        for number in range(200):
            print("x" * 200)
            session.send(str(number))
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
    live_records: int
    connections: int

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
    return services.store.usage().used, len(services.processes), len(services.processes.families)


async def left(server: Server) -> Left:
    """The count now."""
    service = server.service
    used, processes, accounts = await service.engine.consult(_books)
    this = psutil.Process()
    children = len(this.children(recursive=True))
    own = (children, this.num_fds(), lasting_threads(), len(asyncio.all_tasks()))
    return Left(used, processes, accounts, *own, len(service.registry.records(ADMIN)), len(service.connections))


def lasting_threads() -> int:
    """Threads but those that pools may have. asyncio's own pool makes some whenever it finds none idle."""
    pools = Counter(thread.name.rpartition("_")[0] or thread.name for thread in threading.enumerate())
    return sum(max(0, count - LAZY_THREADS.get(pool, 0)) for pool, count in pools.items() if pool != "asyncio")


class Soak:
    """A crowd of programs and of clients, and somebody who disturbs them."""

    def __init__(
        self, server: Server, programs: list[Path], disk: SmallDisk, seed: int, store: Store | None = None
    ) -> None:
        self._server, self._engine, self._store = server, server.service.engine, store
        self._programs, self._disk = programs, disk
        self._random = random.Random(seed)
        self._crowd: dict[Process, asyncio.Task[Outcome]] = {}
        self._visitors: set[asyncio.Task[None]] = set()
        self._stopped: list[int] = []
        self.endings: Counter[str] = Counter()
        self.deeds: Counter[str] = Counter()

    async def run(self, seconds: float) -> None:
        """Disturb at random moments, then end everybody."""
        ends = time.monotonic() + seconds
        while time.monotonic() < ends:
            await self._disturb()
            await asyncio.sleep(self._random.expovariate(50))
        self._disk.empty()
        await self._continue_all()
        await asyncio.gather(*self._visitors)
        for process in self._crowd:
            process.cancel()
        await self._see_off(list(self._crowd))
        await self._end_detached()
        if self._store is not None:
            await self._store.kill_neighbour()
        # Warm workers that were killed are replaced after the next launch.
        await self._engine.run(self._programs[0], {"number": 0})

    async def _disturb(self) -> None:
        """One random thing."""
        chances = {
            self._launch: 12,
            self._visit: 4,
            self._send: 3,
            self._disconnect: 2,
            self._kill_worker: 1,
            self._stop_worker: 1,
            self._continue_all: 1,
            self._cancel: 1,
            self._turn_disk: 0.3,
        }
        if self._store is not None:
            chances |= {self._store.restart_neighbour: 0.1, self._store.remove: 0.05}
        (deed,) = self._random.choices(list(chances), list(chances.values()))
        self.deeds[deed.__name__.strip("_").replace("_", " ")] += 1
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
            try:
                process = await self._engine.launch(program, {"number": number}, capture_output=True)
            except PieError as error:  # the disk is full
                self.endings[type(error).__name__] += 1
            else:
                self._crowd[process] = asyncio.create_task(process.outcome())

    async def _kill_worker(self) -> None:
        self._signal(self._worker(), signal.SIGKILL)

    async def _stop_worker(self) -> None:
        for process_id in (worker := self._worker()):
            self._stopped.append(process_id)
        self._signal(worker, signal.SIGSTOP)

    async def _continue_all(self) -> None:
        """Those that the watchdog has not ended meanwhile."""
        stopped, self._stopped = self._stopped, []
        self._signal(stopped, signal.SIGCONT)

    async def _turn_disk(self) -> None:
        if self._disk.is_full:
            self._disk.empty()
        else:
            self._disk.fill()

    async def _visit(self) -> None:
        if len(self._visitors) < VISITORS:
            visitor = asyncio.create_task(self._come_and_go())
            self._visitors.add(visitor)
            visitor.add_done_callback(self._visitors.discard)

    async def _come_and_go(self) -> None:
        """A client that launches some programs, and then leaves, or is gone."""
        with contextlib.suppress(OSError, WebSocketException):
            async with connect(self._server.url, compression=None, open_timeout=30) as socket:
                for number in range(1, 2 + self._random.randrange(3)):
                    name = self._random.choice(self._programs).stem
                    launch = {"type": "launch_process", "inferlet": name, "input": json.dumps({"number": number})}
                    await socket.send(msgspec.msgpack.encode({**launch, "corr_id": number}))
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(self._random.random()):
                        while True:
                            await socket.recv()
                if self._random.random() < 0.5:
                    socket.transport.abort()

    async def _end_detached(self) -> None:
        """What clients have left running."""
        registry = self._server.service.registry
        for record in registry.records(ADMIN):
            registry.terminate(record)
        for record in registry.records(ADMIN):
            await record.ended.wait()

    def _worker(self) -> list[int]:
        servers = psutil.Process().children()
        workers = [child.pid for server in servers for child in server.children(recursive=True)]
        return [self._random.choice(workers)] if workers else []

    def _signal(self, process_ids: list[int], number: int) -> None:
        for process_id in process_ids:
            try:
                os.kill(process_id, number)
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


@dataclass(frozen=True)
class Report:
    """How programs ended, what was left over afterwards that was not there before, and memory in MiB."""

    endings: Counter[str]
    deeds: Counter[str]
    left_over: dict[str, float]
    level_seconds: float
    resident: Resident

    @property
    def memory(self) -> str:
        level, end = self.resident.at(self.level_seconds), self.resident.end_mib
        slope = self.resident.slope(self.level_seconds)
        return f"{level:.0f} MiB after {self.level_seconds:.0f} s, {end:.0f} at the end, {slope:+.2f} per minute"


async def soak(seconds: float, seed: int, *, has_store: bool = False) -> Report:
    """Disturb an engine and its clients for so long."""
    level_seconds = min(LEVEL_SECONDS, seconds / 3)
    resident = Resident()
    with tempfile.TemporaryDirectory() as directory, small_disk(Path(directory) / "disk") as disk:
        programs = write_programs(Path(directory))
        store = Store(disk.directory / "kv", programs[0]) if has_store else None
        async with serving(disk.directory, store) as server:
            for program in programs:
                server.service.programs.install(program.read_bytes(), MANIFEST.format(name=program.stem))
            await Soak(server, programs, disk, seed).run(WARM_UP_SECONDS)
            before = await steady(server)
            crowd = Soak(server, programs, disk, seed + 1, store)
            async with resident.sampled():
                await crowd.run(seconds)
            leaked: dict[str, float] = dict((await steady(server)).beyond(before))
        leaked |= {} if store is None else store.faults()
    grown = resident.end_mib - resident.at(level_seconds)
    if grown > TOLERANCE_MIB:
        leaked["MiB"] = round(grown)
    return Report(crowd.endings, crowd.deeds, leaked, level_seconds, resident)


@contextlib.asynccontextmanager
async def serving(disk: Path, store: Store | None = None) -> AsyncIterator[Server]:
    """A server whose files are all on `disk`."""
    workers = WorkerSettings(
        watchdog_seconds=1.0, warm_workers=2, scratch_directory=str(disk / "scratch"), scratch_max_bytes=8 << 20
    )
    limits = RegistryLimits(finished_grace_seconds=1.0, detached_seconds=2.0)

    def engine(on_event: Callable[[Event], None], resolve: ResolveName) -> Engine:
        return Engine(
            "pie-tiny",
            name="dummy",
            dummy=store is None,
            disk_cache=None if store is None else store.settings,
            total_pages=96,
            buffer_cache_bytes=BUFFER_CACHE_BYTES,
            isolation="process",
            workers=workers,
            spill_directory=f"{disk}/spill",
            on_event=on_event,
            resolve=resolve,
        )

    settings = ServerSettings(port=0)
    async with Server(settings, engine, home=disk / "home", model="dummy", limits=limits, announces=False) as server:
        yield server


async def steady(server: Server, tries: int = 100) -> Left:
    """The count once it stays the same: released things go, warm workers come."""
    last, same = await left(server), 0
    for _ in range(tries):
        await asyncio.sleep(0.05)
        now = await left(server)
        same = same + 1 if now == last else 0
        last = now
        if same == 10:
            break
    return last


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--store", action="store_true")
    options = parser.parse_args()
    report = asyncio.run(soak(options.seconds, options.seed, has_store=options.store))
    print(f"{sum(report.endings.values())} programs ended: {told(report.endings)}")
    print(f"disturbed: {told(report.deeds)}")
    print(f"memory: {report.memory}")
    print("left over: " + (", ".join(f"{count} {what}" for what, count in report.left_over.items()) or "nothing"))
    sys.exit(bool(report.left_over))


def told(counts: Counter[str]) -> str:
    return ", ".join(f"{count} {what}" for what, count in counts.most_common())


if __name__ == "__main__":
    main()
