"""Every worker dies with its engine, whatever its program does."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.runtime.sandbox.conftest import complete_walls, on_linux, walls  # noqa: F401 - fixtures
from tests.runtime.worker.conftest import is_alive

ROOT = Path(__file__).parents[4]

ENGINE = """
import asyncio, sys
from tests.runtime.worker.conftest import bounded_engine
from pie_mlx.runtime.network.settings import NetworkSettings
async def main():
    network = NetworkSettings() if sys.argv[3] == "network" else None
    async with bounded_engine(sandbox=sys.argv[2], network=network) as engine:
        server = engine._workers.server_process_id
        await engine.run(sys.argv[1], on_message=lambda pid: print(server, pid, flush=True))
asyncio.run(main())
"""
STUBBORN = """
import ctypes, os, signal
from inferlet import session
async def main(input):
    ctypes.CDLL(None).prctl(1, 0, 0, 0, 0)  # no signal when the parent ends
    for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_IGN)
    session.send(os.getpid())
    while True:
        pass
"""


@pytest.fixture
def running(program):
    """Starts an engine in a process of its own, with a program that does not want to end: engine, fork server and
    worker."""
    started = []

    def start(sandbox, network="closed"):
        command = [sys.executable, "-c", ENGINE, program(STUBBORN), sandbox, network]
        engine = subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)}
        )
        started.append(engine)
        server, worker = map(int, engine.stdout.readline().split())
        return engine, server, worker

    yield start
    for engine in started:
        engine.kill()
        engine.wait()
        engine.stdout.close()


@pytest.mark.parametrize("sandbox", ["off", "best-effort"])
async def test_a_program_that_loops_and_ignores_everything_dies_with_the_engine(running, sandbox):
    engine, server, worker = running(sandbox)
    engine.kill()
    await gone(server, worker)


@on_linux
@pytest.mark.usefixtures("complete_walls")
@pytest.mark.parametrize("network", ["closed", "network"])
async def test_a_program_cannot_keep_itself_from_dying_with_the_fork_server(running, network):
    engine, server, worker = running("best-effort", network)
    engine.send_signal(signal.SIGSTOP)  # so that it kills nobody
    os.kill(server, signal.SIGKILL)
    await gone(worker)


LOOPING = """
import os, sys
sys.platform = sys.argv[1]
from pie_mlx.runtime.worker.forked.descendants import die_with_parent
die_with_parent(int(sys.argv[2]) or os.getppid(), int(sys.argv[3]))
print("ready", flush=True)
while True:
    pass
"""


@on_linux
async def test_a_worker_whose_parent_ended_before_it_could_ask_dies_at_once():
    command = [sys.executable, "-c", LOOPING, "linux", "1", "-1"]
    ended = await asyncio.to_thread(subprocess.run, command, cwd=ROOT, capture_output=True, timeout=20)
    assert (ended.returncode, ended.stdout) == (-signal.SIGKILL, b"")


async def test_where_no_kernel_does_it_a_worker_dies_when_the_engines_pipe_ends():
    lifeline, engines = os.pipe()
    command = [sys.executable, "-c", LOOPING, "darwin", "0", str(lifeline)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, pass_fds=[lifeline]) as worker:  # noqa: ASYNC220
        os.close(lifeline)
        assert await asyncio.to_thread(worker.stdout.readline) == b"ready\n"
        assert worker.poll() is None
        os.close(engines)
        assert await asyncio.to_thread(worker.wait) == -signal.SIGKILL


async def gone(*pids):
    async with asyncio.timeout(10):
        while any(map(is_alive, pids)):  # noqa: ASYNC110 - other processes set no events
            await asyncio.sleep(0.005)
