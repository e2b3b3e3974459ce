"""What ended a worker, as an outcome or an error for its launcher."""

import re
import signal

from pie_mlx.errors import InvalidArgumentError, LaunchError, PieError, ProcessError, ProtocolError
from pie_mlx.runtime.execution.outcome import VALUE_LIMIT_BYTES, Failed, Outcome, Returned
from pie_mlx.runtime.worker.fork_server import Exit
from pie_mlx.runtime.worker.frames.messages import Ended, LaunchSpec
from pie_mlx.runtime.worker.limits import cpu_exceeded, memory_exceeded

LAST_LINES = 50
"""Lines of standard error reported with a crash."""
_OUT_OF_MEMORY = re.compile(r"^FATAL ERROR: .*(?:heap|memory|[Aa]llocation)|std::bad_alloc", re.MULTILINE)
"""What Node prints before it aborts."""
_NO_BUFFER = ("Failed to allocate memory", "Array buffer allocation failed")
"""What it throws where the heap is not involved."""


def crash(exit: Exit, spec: LaunchSpec | None, last_text: str) -> PieError:
    """Why a worker exited before its program ended. `last_text` is the end of its standard error."""
    limit_seconds = spec.max_cpu_seconds if spec is not None else None
    if limit_seconds is not None and _used_up(exit, limit_seconds):
        return cpu_exceeded(limit_seconds)
    if not exit.forked:
        return LaunchError("worker: the system cannot start another process", hint="end some programs")
    if spec is not None and spec.node is not None and spec.max_memory_bytes and _OUT_OF_MEMORY.search(last_text):
        return memory_exceeded(spec.max_memory_bytes)
    how = f"killed by {_signal_name(-exit.status)}" if exit.status < 0 else f"exited with status {exit.status}"
    lines = last_text.splitlines()[-LAST_LINES:]
    return ProcessError(f"worker {how} before its program ended", stderr="\n".join(lines))


def _used_up(exit: Exit, limit_seconds: int) -> bool:
    """The kernel's clocks for limits and for accounts differ a little."""
    return exit.status == -signal.SIGXCPU or (exit.status < 0 and exit.cpu_seconds >= limit_seconds)


def outcome_of(ended: Ended, spec: LaunchSpec | None) -> Outcome:
    """The outcome of which a worker told."""
    if len(ended.value) > VALUE_LIMIT_BYTES:
        return Failed(ProtocolError(f"worker: a return value of {len(ended.value)} characters"))
    if ended.error is None:
        return Returned(ended.value, ended.format)
    if ended.error.kind == "RangeError" and ended.error.message in _NO_BUFFER and spec and spec.max_memory_bytes:
        return Failed(memory_exceeded(spec.max_memory_bytes))
    return Failed(ended.error.exception(), ended.error.kind)


def launch_error(error: Exception) -> PieError:
    """The error for a worker that could not be started."""
    if isinstance(error, ProtocolError | InvalidArgumentError):
        return LaunchError(f"worker: {error.message}", hint=error.hint)
    return error if isinstance(error, PieError) else LaunchError(f"worker: {type(error).__name__}: {error}")


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
