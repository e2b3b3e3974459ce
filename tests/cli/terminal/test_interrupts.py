import asyncio
import os
import signal
import subprocess
import sys

import pytest

from pie_mlx.cli.terminal.interrupts import run_interruptible
from tests.terminal import Terminal


@pytest.fixture(autouse=True)
def terminal():
    """What closes it is not ignored, as it is where the tests run without one."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_cancels_what_is_protected_and_lets_it_clean_up(number):
    ended = []

    async def work(protect):
        protect()
        asyncio.get_running_loop().call_soon(os.kill, os.getpid(), number)
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("cleaned up")

    with pytest.raises(KeyboardInterrupt):
        run_interruptible(work)
    assert ended == ["cleaned up"]


def test_the_result_comes_back_and_the_handlers_are_restored():
    before = signal.getsignal(signal.SIGINT)

    async def work(protect):
        protect()
        return 3

    assert run_interruptible(work) == 3
    assert signal.getsignal(signal.SIGINT) is before


def test_what_ends_well_after_a_signal_was_interrupted_nevertheless():
    async def work(protect):
        protect()
        os.kill(os.getpid(), signal.SIGINT)
        return 3

    with pytest.raises(KeyboardInterrupt):
        run_interruptible(work)


SCRIPT = """
import asyncio, os, signal
from pie_mlx.cli.terminal.interrupts import run_interruptible
async def work(protect):
    {body}
    await asyncio.Event().wait()
run_interruptible(work)
"""
KILL = "os.kill(os.getpid(), signal.SIGINT)"
STUBBORN = f"""protect()
    {KILL}
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        {KILL}"""


@pytest.mark.parametrize("body", [KILL, STUBBORN], ids=["before there is anything to clean up", "the second signal"])
def test_a_signal_ends_the_command_at_once(body):
    ended = subprocess.run([sys.executable, "-c", SCRIPT.format(body=body)], capture_output=True, check=False)
    assert (ended.returncode, ended.stderr) == (130, b"")


SHOWS_PROGRESS = """
import os, signal
from pie_mlx.cli.options import Common
from pie_mlx.cli.terminal.progress import progress_line
from pie_mlx.cli.terminal.signals import end_at_once_when_interrupted
end_at_once_when_interrupted()
with progress_line(Common()):
    os.kill(os.getpid(), signal.SIGINT)
"""


def test_the_cursor_is_back_when_a_progress_line_is_interrupted():
    with Terminal([sys.executable, "-c", SHOWS_PROGRESS]) as terminal:
        assert terminal.wait() == 130
        assert terminal.read("\n").endswith("\x1b[?25h\r\n")


def test_nohup_holds():
    signal.signal(signal.SIGHUP, signal.SIG_IGN)

    async def work(protect):
        protect()
        os.kill(os.getpid(), signal.SIGHUP)
        return 3

    assert run_interruptible(work) == 3
