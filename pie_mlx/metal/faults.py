"""Which kernels an error condemns.

MLX builds graphs lazily, and a kernel can fail at three moments (MLX 0.32.4):

- A launcher, or MLX's check of its arguments, refuses while the graph is built.
- Metal cannot compile the source, or make a pipeline of it, or the pipeline takes fewer threads: RuntimeError or
  ValueError in the thread that evaluates, each time that anything which depends on it is evaluated. A message about the
  source does not name the kernel.
- It fails while it runs. MLX learns of that when the command buffer has ended, and tells it once, as a RuntimeError, to
  whatever next waits for the stream or encodes anything on it. Of what was begun before, nothing may be read then.
"""

from collections.abc import Collection

DEVICE_ERRORS = (RuntimeError, ValueError, MemoryError)
"""What MLX raises where a device fails, whatever computes."""

BUILD_MARKS = ("[metal::Device]", "Thread group size")
RUN_MARK = "[METAL] Command buffer execution failed"
PASSING = ("InnocentVictim", "ImpactingInteractivity")
"""Reasons why macOS ends a command buffer that lie outside of it, and pass."""
NOT_OF_KERNELS = (*PASSING, "OutOfMemory", "Insufficient Memory", "Insufficient Permission")
"""Reasons that say nothing of the kernels in it."""


def suspects(error: Exception, launched: Collection[str]) -> frozenset[str]:
    """Which of the kernels that were launched so far may be what failed: all of them where the error names none."""
    text = str(error)
    if isinstance(error, MemoryError) or any(mark in text for mark in NOT_OF_KERNELS):
        return frozenset()
    told_later = any(mark in text for mark in (*BUILD_MARKS, RUN_MARK))
    named = frozenset(kernel for kernel in launched if kernel in (text if told_later else _with_notes(error)))
    return named or frozenset(launched if told_later else ())


def _with_notes(error: Exception) -> str:
    return "\n".join([str(error), *getattr(error, "__notes__", ())])


def passes(error: Exception) -> bool:
    """Whether the same may succeed when it is done once more."""
    return RUN_MARK in str(error) and any(mark in str(error) for mark in PASSING)


def failed_while_running(error: Exception) -> bool:
    """Whether something begun earlier has failed, and not what raises this."""
    return RUN_MARK in str(error)


def one_line(error: Exception) -> str:
    """What it says, for a log: compilers write pages."""
    return " ".join(str(error).split())[:500]
