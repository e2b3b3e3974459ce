"""Decode steps per second of an honest program alone and beside each attacker, in turns.

    python -m benchmarks.hostile [--seconds 3] [--rounds 1] [--models dummy pie-tiny] [--attackers NAME ...]
                                 [--json FILE]

Everything runs on one `pie serve` with its defaults and a sandbox. "Alone" is the mean of the turns before and after
each attack, so that a slow drift of the machine changes no ratio; of several rounds the one with the median ratio
counts. /health is asked all the time, also alone. Clients that attack yield the processor to everything else, because
they would be on another machine. One of them, the control, "a loop elsewhere", asks nothing of the engine: so much less
is left beside any second busy process of this machine. The others are compared with it:

- Who decodes uses the model, of which each user with work has an equal share, however many streams it has: an honest
  program keeps half of the control's rate. More than that is not promised.
- Beside all others it keeps four fifths of the control's rate.

The table also shows the slowest answer of /health, and how many seconds of each second threads of the engine waited for
a processor, alone and beside (Linux): that much is the machine's, and other work on it adds to both.
"""

import argparse
import asyncio
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Self

import psutil

from benchmarks.attackers import CLIENTS, CONTROL, DECODING, PROGRAMS, upload
from pie_mlx.client import connect
from pie_mlx.errors import PieError

TARGET, SHARE_OF_TWO = 0.8, 0.5
"""Of the control's ratio that an honest program keeps; the latter beside who decodes."""
START_SECONDS, PAUSE_SECONDS = 1.0, 0.3
"""An attacker has got going; its leftovers are gone."""
PATIENCE_SECONDS = 60.0
"""Beyond its turn, until an honest program counts as stuck."""
PROBE_SECONDS = 0.02

HONEST = """
import time
from inferlet import Context, Model, Sampler, runtime

async def main(input):
    model, steps = Model.load(runtime.models()[0]), 0
    started = time.monotonic()
    while time.monotonic() < started + input["seconds"]:
        with Context(model) as context:
            context.append(range(8))
            async for step in context.generate(Sampler.argmax(), max_tokens=100, auto_flush=False):
                await step.execute()
                steps += 1
    return steps / (time.monotonic() - started)
"""


@dataclass(frozen=True)
class Row:
    """Steps per second alone and beside an attacker; a ratio of 0 is one that got stuck. `control` is the ratio beside
    the control."""

    model: str
    attacker: str
    alone: float
    beside: float
    health_seconds: float
    slow_health_seconds: float
    """Slowest answer; 95 of 100 are faster."""
    growth_mib: float
    endings: int
    last_ending: str
    """How often a program was ended for what it does and launched anew, and why."""
    waited_alone: float = 0.0
    waited_beside: float = 0.0
    """Seconds of each second, of all threads together, that the engine waited for a processor."""
    control: float = 1.0

    @property
    def ratio(self) -> float:
        return self.beside / self.alone

    @property
    def kept(self) -> float:
        """Of what is left beside the control."""
        return self.ratio / self.control

    @property
    def promised(self) -> float:
        return SHARE_OF_TWO if self.attacker in DECODING else TARGET

    def __str__(self) -> str:
        mark = "" if self.kept >= self.promised else "  below"
        return (
            f"{self.model:9} {self.attacker:26} {self.alone:8,.0f} {self.beside:8,.0f} {self.ratio:6.2f} "
            f"{self.kept:6.2f} {self.promised:4.1f} "
            f"{self.slow_health_seconds:6.2f} {self.health_seconds:6.2f} {self.growth_mib:8.0f} "
            f"{self.waited_alone:5.2f} {self.waited_beside:6.2f} {self._fate:40}{mark}"
        )

    @property
    def _fate(self) -> str:
        return f"ended {self.endings}: {self.last_ending}"[:40] if self.endings else ""


class Health:
    """Asks /health all the time, and how much memory the engine takes, on a thread of its own."""

    def __init__(self, http: str, process_id: int) -> None:
        self._url, self._process = f"{http}/health", psutil.Process(process_id)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self.answer_seconds: list[float] = []
        self._start_bytes = self._peak_bytes = self._process.memory_info().rss

    @property
    def worst_seconds(self) -> float:
        return max(self.answer_seconds)

    @property
    def slow_seconds(self) -> float:
        """95 of 100 answers are faster."""
        return sorted(self.answer_seconds)[len(self.answer_seconds) * 95 // 100]

    @property
    def growth_mib(self) -> float:
        return (self._peak_bytes - self._start_bytes) / (1 << 20)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._over.wait(PROBE_SECONDS):
            begun = time.monotonic()
            with (
                contextlib.suppress(urllib.error.URLError, OSError),
                urllib.request.urlopen(self._url, timeout=60) as got,
            ):
                got.read()
            self.answer_seconds.append(time.monotonic() - begun)
            self._peak_bytes = max(self._peak_bytes, self._process.memory_info().rss)


@dataclass(frozen=True)
class Served:
    """A running engine; its socket gives admin rights."""

    url: str
    socket: str
    process_id: int

    @property
    def http(self) -> str:
        return self.url.replace("ws://", "http://").rstrip("/")


@contextlib.contextmanager
def serving(home: Path, model: Sequence[str]) -> Iterator[Served]:
    """`pie serve` in a process of its own."""
    config = home / "config.toml"
    config.write_text('[runtime]\nsandbox = "required"\n')
    words = ("-m", "pie_mlx", "serve", *model, "--json", "--port", "0", "--config", str(config))
    environment = {**os.environ, "PIE_HOME": str(home), "HF_HUB_OFFLINE": "1"}
    with (home / "stderr").open("wb") as log:
        server = subprocess.Popen(
            [sys.executable, *words], env=environment, stdout=subprocess.PIPE, stderr=log, text=True
        )
    try:
        assert server.stdout is not None
        url = json.loads(server.stdout.readline())["url"]
        yield Served(url, json.loads((home / "run" / "engine.json").read_text())["socket"], server.pid)
    finally:
        server.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            server.wait(20)
        server.kill()
        server.communicate()


async def honest_rate(served: Served, seconds: float) -> float:
    """Steps per second; 0 where it got stuck."""
    try:
        async with asyncio.timeout(seconds + PATIENCE_SECONDS), await connect(served.url, username="ada") as client:
            name = await upload(client, "honest", HONEST)
            return float(await (await client.launch(name, {"seconds": seconds})).result())
    except (PieError, TimeoutError, OSError):
        return 0.0


@dataclass(frozen=True)
class Stretch:
    """Steps per second of an honest program, and the seconds of each second that the engine waited for a processor."""

    rate: float
    waited: float


async def measured(served: Served, seconds: float) -> Stretch:
    """An honest program, while /health is asked."""
    begun, before = time.monotonic(), waits(served.process_id)
    rate = await honest_rate(served, seconds)
    after = waits(served.process_id)
    waited = sum(total - before.get(thread, 0.0) for thread, total in after.items())
    return Stretch(rate, waited / (time.monotonic() - begun))


async def alone(served: Served, seconds: float) -> Stretch:
    """An honest program beside nothing else."""
    with Health(served.http, served.process_id):
        return await measured(served, seconds)


def waits(process_id: int) -> dict[str, float]:
    """How many seconds each thread of a process has waited for a processor; empty where the system does not tell."""
    found: dict[str, float] = {}
    for file in Path(f"/proc/{process_id}/task").glob("*/schedstat"):
        with contextlib.suppress(OSError):  # the thread has ended
            found[file.parent.name] = int(file.read_text().split()[1]) * 1e-9
    return found


async def clear(served: Served) -> None:
    """End what an attack has left running, and wait until it is gone."""
    async with await connect(served.url, unix_socket=served.socket) as admin:
        while processes := await admin.processes():
            for process in processes:
                with contextlib.suppress(PieError):
                    await admin.terminate(process["id"])
            await asyncio.sleep(PAUSE_SECONDS)
    await asyncio.sleep(PAUSE_SECONDS)


@contextlib.asynccontextmanager
async def attacked(served: Served, name: str, seconds: float) -> AsyncIterator[list[str]]:
    """An attacker at work; afterwards why it was ended each time, where it is a program."""
    endings: list[str] = []
    attack = [sys.executable, "-m", "benchmarks.attackers", name, served.url, str(seconds + PATIENCE_SECONDS)]
    process = await asyncio.create_subprocess_exec(*attack, stdout=asyncio.subprocess.PIPE)
    try:
        yield endings
    finally:
        process.kill()
        told, _ = await process.communicate()
        endings += told.decode().splitlines()


async def measure(served: Served, model: str, attackers: Sequence[str], seconds: float) -> AsyncIterator[Row]:
    """A row for each attacker, as often as it is named."""
    await honest_rate(served, 0.5)
    before = await alone(served, seconds)
    for name in attackers:
        with Health(served.http, served.process_id) as health:
            async with attacked(served, name, seconds) as ended:
                await asyncio.sleep(START_SECONDS)
                beside = await measured(served, seconds)
        await clear(served)
        after = await alone(served, seconds)
        healths = health.worst_seconds, health.slow_seconds, health.growth_mib
        fate = len(ended), ended[-1] if ended else ""
        waited = (before.waited + after.waited) / 2, beside.waited
        yield Row(model, name, (before.rate + after.rate) / 2, beside.rate, *healths, *fate, *waited)
        before = after


async def run(model: str, attackers: Sequence[str], seconds: float, rounds: int = 1) -> list[Row]:
    """The row of the control and of each attacker whose ratio is the median of all rounds, printed as they come."""
    found: list[Row] = []
    seen: list[Row] = []
    control = 1.0
    first = [CONTROL, *(name for name in attackers if name != CONTROL)]
    repeated = [name for name in first for _ in range(rounds)]
    with tempfile.TemporaryDirectory() as home, serving(Path(home), model_words(model)) as served:
        async for row in measure(served, model, repeated, seconds):
            seen.append(row)
            if len(seen) == rounds:
                middle = median_round(seen)
                control = middle.ratio if middle.attacker == CONTROL else control
                found.append(replace(middle, control=control))
                print(found[-1], flush=True)
                seen = []
    return found


def median_round(rows: Sequence[Row]) -> Row:
    return sorted(rows, key=lambda row: row.ratio)[len(rows) // 2]


def model_words(model: str) -> tuple[str, ...]:
    return ("--dummy",) if model == "dummy" else ("--model", model)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    everything = [*CLIENTS, *PROGRAMS]
    parser.add_argument("--seconds", type=float, default=3.0, help="of each turn")
    parser.add_argument("--rounds", type=int, default=1, help="for each attacker")
    parser.add_argument("--models", nargs="+", default=["dummy", "pie-tiny"])
    parser.add_argument("--attackers", nargs="+", choices=everything, default=everything, metavar="NAME")
    parser.add_argument("--json", type=Path, help="write the rows to this file as well")
    options = parser.parse_args()
    print(f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}")
    print(
        f"{'model':9} {'attacker':26} {'alone/s':>8} {'beside/s':>8} {'ratio':>6} {'kept':>6} {'of':>4} "
        f"{'p95 s':>6} {'worst':>6} {'MiB more':>8} {'waits':>5} {'beside':>6}"
    )
    rows = [
        row
        for model in options.models
        for row in asyncio.run(run(model, options.attackers, options.seconds, options.rounds))
    ]
    if options.json:
        options.json.write_text(json.dumps([asdict(row) for row in rows]))


if __name__ == "__main__":
    main()
