"""`pie serve` and `pie top` as a person starts them, in a terminal."""

import os
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")

PIE = [sys.executable, "-m", "pie_mlx"]
HELLO = Path(__file__).parents[2] / "examples" / "hello"
PATIENCE_SECONDS = 45


class Terminal:
    """One tmux server with one window, of its own socket."""

    def __init__(self, folder, environment):
        self._socket, self._environment = str(folder / "tmux"), environment

    def start(self, command):
        self._tmux("new-session", "-d", "-x", "120", "-y", "40", command)

    def press(self, *keys):
        self._tmux("send-keys", *keys)

    def wait_for(self, text):
        """The screen once it holds `text`."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while text not in (screen := self._tmux("capture-pane", "-p")):
            assert time.monotonic() < deadline, f"{text!r} is not on the screen:\n{screen}"
            time.sleep(0.1)
        return screen

    def is_over(self):
        return subprocess.run(self._command("has-session"), capture_output=True, check=False).returncode != 0

    def end(self):
        subprocess.run(self._command("kill-server"), capture_output=True, check=False)

    def _command(self, *words):
        return ["tmux", "-f", "/dev/null", "-S", self._socket, *words]

    def _tmux(self, *words):
        ended = subprocess.run(
            self._command(*words), capture_output=True, text=True, check=True, env=self._environment, timeout=20
        )
        return ended.stdout


@pytest.fixture
def environment(tmp_path):
    return {**os.environ, "PIE_HOME": str(tmp_path / "home"), "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}


@pytest.fixture
def server(tmp_path, environment):
    log = tmp_path / "serve.log"
    with log.open("wb") as output:
        command = [*PIE, "serve", "--dummy", "--port", "0"]
        child = subprocess.Popen(command, stdout=output, stderr=output, env=environment, start_new_session=True)
    deadline = time.monotonic() + PATIENCE_SECONDS
    while "Server ready" not in log.read_text():
        assert child.poll() is None, log.read_text()
        assert time.monotonic() < deadline, log.read_text()
        time.sleep(0.1)
    yield child
    child.terminate()
    child.wait(20)


@pytest.fixture
def terminal(tmp_path, environment):
    made = Terminal(tmp_path, environment)
    yield made
    made.end()


@pytest.mark.timeout(170)
def test_programs_of_a_server_are_seen_in_a_terminal(server, terminal, environment):
    subprocess.run([*PIE, "install", str(HELLO)], env=environment, check=True, capture_output=True, timeout=60)
    terminal.start(shlex.join([*PIE, "top"]))
    terminal.wait_for("LIVE")
    subprocess.run([*PIE, "run", "hello"], env=environment, check=False, capture_output=True, timeout=60)
    terminal.press("2")
    terminal.wait_for("hello@0.1.0")
    terminal.press("Enter")
    terminal.wait_for("Timeline")
    terminal.press("8")
    terminal.wait_for("Launch hello@0.1.0")
    server.terminate()
    server.wait(20)
    terminal.wait_for("RECONNECTING")
    terminal.press("q")
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not terminal.is_over():
        assert time.monotonic() < deadline
        time.sleep(0.1)


@pytest.mark.timeout(170)
def test_the_engine_goes_on_when_its_monitor_is_left(terminal, environment):
    terminal.start(shlex.join([*PIE, "serve", "--dummy", "--port", "0", "--monitor"]))
    terminal.wait_for("LIVE")
    terminal.press("q")
    terminal.wait_for("Server ready")
    listed = subprocess.run([*PIE, "ps"], env=environment, check=False, capture_output=True, timeout=60)
    assert listed.returncode == 0
    terminal.press("C-c")
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not terminal.is_over():
        assert time.monotonic() < deadline
        time.sleep(0.1)
