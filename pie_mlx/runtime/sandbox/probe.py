"""Tries forbidden actions in a separate, confined process, and reports which were stopped."""

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

BOOT = "from pie_mlx.runtime.sandbox import attempts; getattr(attempts, sys.argv[1])(sys.argv[2:])"


@dataclass(frozen=True, slots=True)
class SandboxReport:
    """`stopped` and `open` are the forbidden actions that failed and that succeeded; `allowed_works` says whether
    allowed ones still succeed; `reason` is why something is open, if known."""

    stopped: tuple[str, ...]
    open: tuple[str, ...]
    allowed_works: bool
    reason: str = ""

    @property
    def holds(self) -> bool:
        return not self.open and self.allowed_works


@dataclass(frozen=True, slots=True)
class NetworkReport:
    """Whether a program reaches its proxy and nothing else, and if not, why."""

    holds: bool
    reason: str = ""


def probe_sandbox() -> SandboxReport:
    """Takes as long as starting an interpreter. Raises OSError if that fails."""
    return attempted(BOOT, "main")


def attempted(boot: str, *arguments: str) -> SandboxReport:
    """What the code `boot` finds, a process with these arguments, a file that must be closed and a directory that must
    be open."""
    with tempfile.TemporaryDirectory(prefix="pie-probe-") as directory:
        secret, own = Path(directory, "secret"), Path(directory, "own")
        secret.write_text("secret")
        own.mkdir()
        found = _findings(boot, *arguments, os.path.realpath(secret), os.path.realpath(own))
    if isinstance(found, str):
        return SandboxReport((), ("everything",), False, found)
    return SandboxReport(tuple(found["stopped"]), tuple(found["open"]), found["allowed_works"], found["reason"])


def probe_network() -> NetworkReport:
    """Takes as long as starting an interpreter. Raises OSError if that fails."""
    with socket.create_server(("127.0.0.1", 0)) as proxy, socket.create_server(("127.0.0.1", 0)) as other:
        found = _findings(BOOT, "try_network", str(proxy.getsockname()[1]), str(other.getsockname()[1]))
    if isinstance(found, str):
        return NetworkReport(False, found)
    if found["open"]:
        return NetworkReport(False, f"tried and not stopped: {', '.join(found['open'])}")
    if not found["allowed_works"]:
        return NetworkReport(False, "the proxy is out of reach")
    return NetworkReport(not found["reason"], found["reason"])


def _findings(boot: str, *arguments: str) -> dict[str, Any] | str:
    """What such a process prints, or why it prints nothing."""
    try:
        ended = subprocess.run(
            isolated_python(boot, *arguments),
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
