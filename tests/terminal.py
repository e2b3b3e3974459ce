"""A terminal, and a command on it, as a person has them."""

import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
from fcntl import ioctl

_OWN = "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execvp(sys.argv[1], sys.argv[1:])"
PATIENCE_SECONDS = 60.0


class Terminal:
    """Runs a command in the foreground of a terminal of its own, with `environment` beside that of the tests."""

    def __init__(self, words, **environment):
        self._terminal, theirs = pty.openpty()
        ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
        self._process = subprocess.Popen(
            [sys.executable, "-c", _OWN, *words],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env={**os.environ, "TERM": "xterm-256color", **environment},
            start_new_session=True,
        )
        os.close(theirs)

    def __enter__(self):
        return self

    def __exit__(self, *failure):
        self._process.kill()
        self._process.wait()
        os.close(self._terminal)

    def type(self, text, until):
        """Type `text`; what is shown from then on, up to `until`."""
        self.send(text)
        return self.read(until)

    def send(self, text):
        """Type `text`."""
        os.write(self._terminal, text.encode())

    def read(self, until):
        """What is shown, up to `until`."""
        shown, deadline = b"", time.monotonic() + PATIENCE_SECONDS
        while until.encode() not in shown:
            ready, _, _ = select.select([self._terminal], [], [], max(0.0, deadline - time.monotonic()))
            assert ready, f"{until!r} was never shown, but {shown[-500:]!r}"
            shown += os.read(self._terminal, 65536)
        return shown.decode(errors="replace")

    def wait(self):
        """The exit code."""
        return self._process.wait(PATIENCE_SECONDS)
