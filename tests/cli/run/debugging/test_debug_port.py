"""`pie run --debug-port`: a program in its sandbox, stopped by a debugger that speaks the real protocol."""

import importlib.util
import queue
import socket
import threading

import pytest

from pie_mlx.cli.run import local
from pie_mlx.runtime.worker.debug_relay import debug_listener
from pie_mlx.runtime.worker.settings import WorkerSettings
from tests.dap import Debugger

pytestmark = pytest.mark.timeout(60)

MAIN = """
from helper import doubled

async def main(input):
    before = input["n"] + 1
    after = doubled(before)
    return after
"""
HELPER = "def doubled(number):\n    twice = 2 * number\n    return twice\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "main.py").write_text(MAIN)
    (tmp_path / "helper.py").write_text(HELPER)
    return tmp_path


@pytest.fixture
def address(monkeypatch):
    """Where the debugger of the next run connects, as soon as that is open."""
    opened = queue.SimpleQueue()

    def listen(port):
        listener = debug_listener(port)
        opened.put(listener.getsockname())
        return listener

    monkeypatch.setattr(local, "debug_listener", listen)
    return opened


def stops(address, breakpoints, names, seen):
    with Debugger(address.get()) as debugger:
        debugger.attach(breakpoints)
        for name in names:
            thread, path, line, frame = debugger.stopped()
            seen.append((path, line, debugger.value(frame, name)))
            debugger.send("continue", threadId=thread)


def test_breakpoints_in_the_files_of_the_user_are_hit_and_no_watchdog_ends_what_stands_still(
    pie, folder, address, monkeypatch
):
    impatient = WorkerSettings(watchdog_seconds=0.05, warm_workers=0, max_cpu_seconds=1)
    monkeypatch.setattr(local, "worker_settings", lambda runtime, home: impatient)
    seen, breakpoints = [], {folder / "main.py": [6], folder / "helper.py": [2]}
    words = (address, breakpoints, ("before", "number"), seen)
    editor = threading.Thread(target=stops, args=words, daemon=True)
    editor.start()
    ended = pie("run", "--dummy", "--debug-port", "0", folder, "--", "--n", "3")
    assert ended.err.startswith("pie: waiting for a debugger at 127.0.0.1:")
    editor.join()
    assert seen == [(str(folder / "main.py"), 6, "4"), (str(folder / "helper.py"), 2, "4")]
    assert (ended.code, ended.out) == (0, "8\n")


def test_without_debugpy_the_package_to_install_is_named(pie, folder, monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "debugpy" else find(name))
    ended = pie("run", "--dummy", "--debug-port", "0", folder)
    assert (ended.code, ended.err) == (
        1,
        "pie: debugger: debugpy is not installed\n     try: pip install 'pie-mlx[debug]'\n",
    )


def test_a_port_in_use_is_said_to_be(pie, folder):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        ended = pie("run", "--dummy", "--debug-port", taken.getsockname()[1], folder)
    assert (ended.code, "Address already in use" in ended.err) == (1, True)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--url", "ws://127.0.0.1:1", "--debug-port", "0"], "--url names a running engine"),
        (["--debug-port", "0", "--port", "0"], "others could debug it"),
        (["--debug-port", "0", "--timeout", "1"], "takes its time"),
        (["--inline", "--json"], "writes to the terminal itself"),
        (["--inline", "--watch"], "its process runs it once"),
        (["-d", "--debug-port", "0"], "others may share"),
    ],
)
def test_what_cannot_be_looked_at_is_refused_with_the_reason(pie, folder, words, why):
    ended = pie("run", folder, *words)
    assert (ended.code, why in ended.err) == (2, True)
