"""Runs our own code on a stranger's bytes in a process of limited memory and time: parsers and compilers have no limits
of their own, and cannot be interrupted."""

import subprocess
import threading
import time

from pie_mlx.runtime.process_memory import residency
from pie_mlx.runtime.sandbox.interpreter import isolated_python

_LOOK_SECONDS = 0.1


def output_of(code: str, given: bytes, *, memory_bytes: int, patience_seconds: float) -> bytes | None:
    """What `code` writes for `given` on its standard input; None if it fails or exceeds a limit.

    `patience_seconds` are wall-clock time, for a machine under load. Raises OSError if no process can start.
    """
    process = subprocess.Popen(
        isolated_python(code), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    over, until = threading.Event(), time.monotonic() + patience_seconds

    def watch() -> None:
        """Its own limits do not bound memory on a Mac, nor wall-clock time anywhere."""
        while not over.wait(_LOOK_SECONDS):
            if time.monotonic() > until or residency(process.pid).resident_bytes > memory_bytes:
                process.kill()
                return

    watcher = threading.Thread(target=watch, name="pie-limited-python", daemon=True)
    watcher.start()
    try:
        output, _ = process.communicate(given)
    finally:
        over.set()
        process.kill()
        process.wait()
        watcher.join()
    return output if process.returncode == 0 else None
