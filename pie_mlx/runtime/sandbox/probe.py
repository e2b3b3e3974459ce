"""Tries what the sandbox forbids, in a process of its own, and says what was stopped."""

import json
import os
import socket
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pie_mlx.runtime.sandbox.interpreter import isolated_python

TIMEOUT_SECONDS = 20.0

_BOOT = "from pie_mlx.runtime.sandbox import attempts; getattr(attempts, sys.argv[1])(sys.argv[2:])"


@dataclass(frozen=True, slots=True)
class SandboxReport:
    """`stopped` and `open` are the forbidden things that were refused and that worked; `allowed_works` says whether
    what a program needs still does; `reason` is why something is open, as far as it is known."""

    stopped: tuple[str, ...]
    open: tuple[str, ...]
    allowed_works: bool
    reason: str = ""

    @property
    def holds(self) -> bool:
        return not self.open and self.allowed_works


@dataclass(frozen=True, slots=True)
class NetworkReport:
    """Whether a program reaches its proxy and nothing else, and if not so, why."""

    holds: bool
    reason: str = ""


def probe_sandbox() -> SandboxReport:
    """Takes the time an interpreter needs to start. Raises OSError where none can be started."""
    with tempfile.TemporaryDirectory(prefix="pie-probe-") as directory:
        secret, own = Path(directory, "secret"), Path(directory, "own")
        secret.write_text("secret")
        own.mkdir()
        found = _attempt("main", os.path.realpath(secret), os.path.realpath(own))
    if isinstance(found, str):
        return SandboxReport((), ("everything",), False, found)
    return SandboxReport(tuple(found["stopped"]), tuple(found["open"]), found["allowed_works"], found["reason"])


def probe_network() -> NetworkReport:
    """Takes the time an interpreter needs to start. Raises OSError where none can be started."""
    with socket.create_server(("127.0.0.1", 0)) as proxy, socket.create_server(("127.0.0.1", 0)) as other:
        found = _attempt("try_network", str(proxy.getsockname()[1]), str(other.getsockname()[1]))
    if isinstance(found, str):
        return NetworkReport(False, found)
    if found["open"]:
        return NetworkReport(False, f"tried and not stopped: {', '.join(found['open'])}")
    if not found["allowed_works"]:
        return NetworkReport(False, "the proxy is out of reach")
    return NetworkReport(not found["reason"], found["reason"])


def _attempt(name: str, *arguments: str) -> dict[str, Any] | str:
    """What one of `attempts` found, or why it found nothing."""
    try:
        ended = subprocess.run(
            isolated_python(_BOOT, name, *arguments),
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=TIMEOUT_SECONDS,
        )
    except subprocess.TimeoutExpired:
        return f"the probe did not end in {TIMEOUT_SECONDS:g} s"
    if ended.returncode != 0:
        return (ended.stderr.strip().splitlines() or ["the probe died"])[-1]
    return json.loads(ended.stdout)
