"""One launched process, and how children are started."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from pie_mlx.calls import ChildOutcome
from pie_mlx.errors import PieError, ProcessCancelledError
from pie_mlx.runtime.children.request import ChildRequest
from pie_mlx.runtime.execution.outcome import Failed, Outcome
from pie_mlx.runtime.execution.process import Process
from pie_mlx.runtime.mcp.relay import McpRelay
from pie_mlx.runtime.program.program import Program

StartChild = Callable[[ChildRequest], Awaitable[Process]]
"""Starts a child, by `Engine.launch` in the end. Raises LaunchError and its kin."""


@dataclass(slots=True, eq=False)
class Member:
    """A process of the tree. `program` is None for a function; `process` is there once it has started.

    A `doomed` one is to end as soon as it has started.
    """

    username: str
    program: Program | None
    relay: McpRelay | None
    process: Process | None = None
    doomed: bool = False


def child_outcome(outcome: Outcome) -> ChildOutcome:
    """How a process ended, as its parent is told."""
    if not isinstance(outcome, Failed):
        return ChildOutcome("returned", outcome.value, outcome.format)
    cancelled = isinstance(outcome.error, ProcessCancelledError)
    return ChildOutcome(
        "cancelled" if cancelled else "failed",
        error_type=outcome.error_type,
        code=outcome.error.code if isinstance(outcome.error, PieError) else "",
        message=outcome.message,
    )
