"""Few files may be open."""

import contextlib
import ctypes
import resource
import signal
import socket
import sys
import urllib.request

import pytest

from tests.serving import Serving

_PR_CAPBSET_DROP, _CAP_SYS_RESOURCE = 24, 24


class Limited(Serving):
    """An engine that may have `files` open, and cannot have more whoever it is."""

    def __init__(self, home, files):
        self._files = files
        super().__init__(home, "--port", "0")

    def start(self, *words):
        return super().start(*words, preexec_fn=self._limit)

    def _limit(self):
        if sys.platform == "linux":
            ctypes.CDLL(None).prctl(_PR_CAPBSET_DROP, _CAP_SYS_RESOURCE, 0, 0, 0)
        resource.setrlimit(resource.RLIMIT_NOFILE, (self._files, self._files))


@pytest.fixture
def limited(tmp_path):
    started = []

    def make(files):
        home = tmp_path / str(files)
        home.mkdir(mode=0o700)
        started.append(Limited(home, files))
        return started[-1]

    yield make
    for one in started:
        one.clean_up()


def test_an_engine_works_with_few_and_says_what_is_missing(limited, tmp_path):
    engine = limited(128)
    http = engine.ready()["url"].replace("ws://", "http://")
    address = tuple(http.removeprefix("http://").split(":"))
    program = tmp_path / "program.py"
    program.write_text("async def main(input):\n    return 'ran'\n")
    assert engine.pie("run", program)[:2] == (0, "ran\n")
    with contextlib.ExitStack() as held:
        for _ in range(150):
            held.enter_context(socket.create_connection(address))
    with urllib.request.urlopen(f"{http}/health", timeout=30) as answer:
        assert answer.status == 200
    assert engine.pie("run", program)[:2] == (0, "ran\n")
    assert engine.end(signal.SIGTERM) == 0
    err = engine.child.stderr.read()
    assert "pie: warning: at most 128 files may be open, enough for 32 clients and about 10 programs at once" in err
    assert "ulimit -n" in err


def test_too_few_to_work_at_all_are_told_in_a_line(limited):
    engine = limited(48)
    _, err = engine.child.communicate()
    assert engine.child.returncode == 1
    assert "serve: at most 48 files may be open, and an engine needs 64" in err
