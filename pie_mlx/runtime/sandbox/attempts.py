"""The process that `probe` starts: confines itself, then tries forbidden actions."""

import contextlib
import importlib
import json
import os
import socket
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from pie_mlx.runtime.sandbox.capabilities import drop_capabilities
from pie_mlx.runtime.sandbox.confinement import confine
from pie_mlx.runtime.sandbox.interpreter import interpreter_paths
from pie_mlx.runtime.sandbox.policy import Policy

LIBRARIES = ("unicodedata", "pyexpat", "_zoneinfo", "termios", "msgspec")
"""Extension modules that are not loaded before the confinement: of the standard library, and an installed one, since
some Pythons have the former built in."""


def main(arguments: Sequence[str]) -> None:
    """`arguments`: a file that must be closed, and a directory that must be open. Prints the findings."""
    secret, own = arguments
    report(
        Policy(interpreter_paths(), (own,)), secret, lambda: _failure(lambda: _work(own)) or _failure(_load_libraries)
    )


def report(policy: Policy, secret: str, broken: Callable[[], str]) -> None:
    """Confine this process, try what is forbidden and print the findings. `broken` does what is allowed and says why it
    failed, "" if it works."""
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    drop_capabilities()
    confinement = confine(policy)
    attempts: dict[str, Callable[[], object]] = {
        "reading files": lambda: Path(secret).read_text(),
        "writing files": lambda: Path(secret).with_name("planted").write_text("x"),
        "network": lambda: _connect(port),
        "starting processes": _fork,
    }
    refused = {name: _is_refused(attempt) for name, attempt in attempts.items()}
    why_broken = broken()
    found = {
        "stopped": [name for name in refused if refused[name]],
        "open": [name for name in refused if not refused[name]],
        "allowed_works": not why_broken,
        "reason": "; ".join(filter(None, (confinement.text, why_broken))),
    }
    sys.stdout.write(json.dumps(found))


def try_network(arguments: Sequence[str]) -> None:
    """`arguments`: a proxy's port on this machine, and a port that must be closed. Prints the findings."""
    proxy_port, other_port = map(int, arguments)
    isolated = sys.platform == "linux"
    with contextlib.ExitStack() as stack:
        if isolated:
            from pie_mlx.runtime.sandbox.namespace import enter_network_namespace

            enter_network_namespace()
            listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
            proxy_port = listener.getsockname()[1]
        drop_capabilities()
        confinement = confine(Policy(interpreter_paths(), (), proxy_port, isolated))
        attempts: dict[str, Callable[[], object]] = {
            "other ports": lambda: _connect(other_port),
            "UDP": lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", other_port)),
        }
        found = {
            "open": [name for name, attempt in attempts.items() if not _is_refused(attempt)],
            "allowed_works": not _is_refused(lambda: _connect(proxy_port)),
            "reason": confinement.text,
        }
    sys.stdout.write(json.dumps(found))


def _connect(port: int) -> None:
    socket.create_connection(("127.0.0.1", port), timeout=1).close()


def _is_refused(attempt: Callable[[], object]) -> bool:
    return bool(_failure(attempt))


def _failure(attempt: Callable[[], object]) -> str:
    """The system's error, "" if the attempt succeeded."""
    try:
        attempt()
    except (OSError, ImportError) as error:
        return str(error) or type(error).__name__
    return ""


def _fork() -> None:
    if os.fork() == 0:
        os._exit(0)
    os.wait()


def _work(directory: str) -> None:
    """Do what every program may do."""
    file = Path(directory, "file")
    file.write_text("x")
    file.rename(file.with_name("other"))
    thread = threading.Thread(target=file.with_name("other").unlink)
    thread.start()
    thread.join()


def _load_libraries() -> None:
    """Import modules after the confinement: each is a shared library, which may be blocked."""
    for name in LIBRARIES:
        importlib.import_module(name)
