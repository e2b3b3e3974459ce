"""Decides which kernels an error makes suspect.

MLX builds graphs lazily, and a kernel can fail at three moments (MLX 0.32.4):

- A launcher, or MLX's check of its arguments, raises while the graph is built.
- Metal cannot compile the source, or cannot make a pipeline of it, or the pipeline allows fewer threads: RuntimeError
  or ValueError in the evaluating thread, at every evaluation that depends on it. A message about the source does not
  name the kernel.
- The kernel fails while it runs. MLX learns this when the command buffer ends. It reports it once, as a RuntimeError,
  to the next operation that waits for the stream or encodes on it. Nothing that began earlier may be read after that.
"""

from collections.abc import Collection

DEVICE_ERRORS = (RuntimeError, ValueError, MemoryError)
"""Errors that MLX raises if a device fails, on any device."""

BUILD_MARKS = ("[metal::Device]", "Thread group size")
RUN_MARK = "[METAL] Command buffer execution failed"
PASSING = ("InnocentVictim", "ImpactingInteractivity")
"""Temporary reasons, outside the command buffer, for which macOS ends it."""
NOT_OF_KERNELS = (*PASSING, "OutOfMemory", "Insufficient Memory", "Insufficient Permission")
"""Reasons unrelated to the kernels in the command buffer."""


def suspects(error: Exception, launched: Collection[str]) -> frozenset[str]:
    """The launched kernels that may have caused the error: all of them if it names none."""
    text = str(error)
    if isinstance(error, MemoryError) or any(mark in text for mark in NOT_OF_KERNELS):
        return frozenset()
    told_later = any(mark in text for mark in (*BUILD_MARKS, RUN_MARK))
    named = frozenset(kernel for kernel in launched if kernel in (text if told_later else _with_notes(error)))
    return named or frozenset(launched if told_later else ())


def _with_notes(error: Exception) -> str:
    return "\n".join([str(error), *getattr(error, "__notes__", ())])


def passes(error: Exception) -> bool:
    """Whether a retry may succeed."""
    return RUN_MARK in str(error) and any(mark in str(error) for mark in PASSING)


def failed_while_running(error: Exception) -> bool:
    """Whether the failure belongs to earlier work, not to the operation that raised it."""
    return RUN_MARK in str(error)


def one_line(error: Exception) -> str:
    """The error on one line, for the log: compilers write pages."""
    return " ".join(str(error).split())[:500]
