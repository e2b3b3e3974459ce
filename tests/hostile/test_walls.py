"""What a program may ask of the system, what it may use of the machine, and when it ends."""

import asyncio
import signal
import sys
from pathlib import Path

import psutil
import pytest

from tests.hostile.target import Target
from tests.runtime.sandbox.conftest import on_linux
from tests.runtime.worker.conftest import is_alive

MEMORY_MIB = 256
BOUNDED = f'[runtime]\nsandbox = "required"\nmax_memory_mb = {MEMORY_MIB}\n'


@pytest.fixture(scope="module")
def target(tmp_path_factory):
    """An engine whose programs have little memory."""
    running = Target(tmp_path_factory.mktemp("hostile") / "home", config=BOUNDED)
    yield running
    running.clean_up()


@on_linux
@pytest.mark.parametrize("way", ["memory_file", "shared", "growing_stack", "page_tables", "pipes"])
def test_no_memory_is_held_beyond_the_limit(target, hostile, way):
    with target.stays_healthy():
        code, result, err = hostile("memory", way=way)
    assert code == 0, err
    assert "refused" in result or result["held"] < MEMORY_MIB << 20


@on_linux
def test_threads_without_end_end_the_program(target, hostile):
    with target.stays_healthy():
        code, _, err = hostile("threads")
    assert code == 1
    assert "Thread limit of 256 exceeded" in err


@on_linux
def test_no_other_process_is_reached(target, hostile):
    code, found, err = hostile("other_processes")
    assert (code, found) == (0, []), err


async def test_a_killed_engine_leaves_no_process_and_the_next_one_no_files(make_target, tmp_path, monkeypatch):
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setenv("TMPDIR", str(place))
    engine = make_target()
    program = Path(__file__).parent / "programs" / "python" / "survivor.py"
    engine.start("run", program)
    await until(lambda: list(place.glob("pie-programs-*/*/stays")))
    left = psutil.Process(engine.child.pid).children(recursive=True)
    assert len(left) >= 2
    for process in (psutil.Process(engine.child.pid), left[0]):  # the fork server as well: nobody cleans up
        process.send_signal(signal.SIGSTOP)
    engine.child.kill()
    left[0].kill()
    await until(lambda: not [process for process in left if is_alive(process.pid)])
    if sys.platform == "linux":
        assert list(place.glob("pie-programs-*"))
    make_target().end(signal.SIGTERM)
    assert list(place.glob("pie-programs-*")) == []


async def until(holds):
    async with asyncio.timeout(20):
        while not holds():  # noqa: ASYNC110 - other processes set no events
            await asyncio.sleep(0.01)
