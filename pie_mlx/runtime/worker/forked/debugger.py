"""The debugger of a worker: debugpy, over a channel that the worker opens before it is confined.

The engine connects the other end with the one client that it accepts. So a confined program gets no network for it.
"""

import contextlib
import importlib
import os
import socket
from collections.abc import Generator

from pie_mlx.runtime.worker.forked.host import WorkerHost
from pie_mlx.runtime.worker.frames.messages import Debugging

_ANYWHERE = ("127.0.0.1", 1)
"""Where debugpy would connect, had it no channel."""
_QUIET = "PYDEVD_DISABLE_FILE_VALIDATION"
"""Otherwise it warns that it cannot stop in Python's own frozen modules."""


def open_channel(host: WorkerHost) -> socket.socket:
    """The worker's end; the other one goes to the engine."""
    ours, theirs = socket.socketpair()
    with theirs:
        host.hand_over(theirs, Debugging())
    return ours


@contextlib.contextmanager
def debugged(channel: socket.socket) -> Generator[None]:
    """Let debugpy use the channel, wait until a client has attached and set its breakpoints, and end it afterwards."""
    os.environ[_QUIET] = "1"
    debugpy = importlib.import_module("debugpy")
    importlib.import_module("debugpy.server")  # makes its own copy of pydevd importable
    pydevd = importlib.import_module("pydevd")
    del os.environ[_QUIET]

    def connected(host: str, port: int) -> socket.socket:
        del host, port
        return channel

    pydevd.__dict__["start_client"] = connected
    debugpy.configure(subProcess=False)
    debugpy.connect(_ANYWHERE)
    debugpy.wait_for_client()
    yield
    pydevd.stoptrace()  # sends what is left
