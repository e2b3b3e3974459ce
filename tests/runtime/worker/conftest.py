import asyncio
import os
import subprocess
import sys
import textwrap

import pytest
import pytest_asyncio

from pie_mlx import Engine
from pie_mlx.errors import ProcessError
from pie_mlx.events import ProcessFailed, ProcessMessage, ProcessOutput, ProcessReturned
from pie_mlx.runtime.worker.pool import WorkerPool
from pie_mlx.runtime.worker.settings import WorkerSettings
from tests.instances import instances


@pytest.fixture
def program(tmp_path):
    """Writes a program and answers its path."""

    def write(source, name="program.py"):
        path = tmp_path / name
        path.write_text(textwrap.dedent(source))
        return path

    return write


class Launched:
    """A process, and the events it gave out."""

    def __init__(self):
        self.events = []
        self.process = None

    def text(self, stream):
        return "".join(e.text for e in self.events if isinstance(e, ProcessOutput) and e.stream == stream)

    def messages(self):
        return [e.text for e in self.events if isinstance(e, ProcessMessage)]

    def ends(self):
        return [e for e in self.events if isinstance(e, ProcessReturned | ProcessFailed)]

    async def failure(self):
        """The error that ended it."""
        outcome = await self.process.outcome()
        assert [type(e) for e in self.ends()] == [ProcessFailed]
        return outcome.error


async def launch(engine, path, input=None, also=lambda event: None, **options):
    launched = Launched()

    def observe(event):
        launched.events.append(event)
        also(event)

    launched.process = await engine.launch(path, input, capture_output=True, on_event=observe, **options)
    return launched


async def launched_until_ready(engine, path, **options):
    """A launch whose program has sent its first message."""
    ready = asyncio.get_running_loop().create_future()
    launched = await launch(engine, path, on_message=lambda text: ready.done() or ready.set_result(text), **options)
    return launched, await ready


@pytest.fixture(scope="module")
def pools():
    """The pools of workers of the engines of a module, in order."""
    with instances(WorkerPool) as made:
        yield made


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def engine(pools):
    """An engine without weights whose programs run in workers, without a sandbox; the tests of a module share it."""
    async with bounded_engine() as running:
        yield running


def bounded_engine(**settings):
    workers = WorkerSettings(**{"sandbox": "off", "warm_workers": 1, **settings})
    return Engine(dummy=True, total_pages=64, seed=1, isolation="process", workers=workers)


async def ended_by(launched, text):
    """Check that it ended with a ProcessError that says `text`."""
    error = await launched.failure()
    assert type(error) is ProcessError, repr(error)
    assert text in str(error)
    return error


def is_alive(pid):
    if sys.platform == "darwin":
        state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True).stdout
        return bool(state.strip()) and not state.startswith("Z")
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):  # it may end while it is being looked at
        return False
    except OSError:
        os.kill(pid, 0)
        return True
