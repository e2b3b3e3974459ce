"""The engine and the user this program runs for, and the programs it launches."""

from typing import Any

from inferlet._calls.child import Child as AsyncChild
from inferlet._calls.child import launch as launch_async
from inferlet.runtime import get_return_value, instance_id, models, process_id, set_return, username, version
from inferlet.sync._blocking import wait
from inferlet.sync._input import input

__all__ = [
    "Child",
    "get_return_value",
    "input",
    "instance_id",
    "launch",
    "models",
    "process_id",
    "set_return",
    "spawn",
    "username",
    "version",
]


class Child:
    """A launched program, which keeps running when this handle is dropped. `pid` is its process id."""

    def __init__(self, child: AsyncChild) -> None:
        self._child = child
        self.pid = child.pid

    def result(self) -> Any:
        """Wait for its return value: text as it is, otherwise the value of its JSON.

        Raises ChildFailedError for the error that ended it, ProcessCancelledError when it was cancelled.
        """
        return wait(self._child.result())

    def cancel(self) -> None:
        """Ask it to end. Not an error when it has ended."""
        self._child.cancel()


def launch(program: str, input: Any = None) -> Child:
    """Start a program beside this one: a path in this program's directory, or the name of an installed one.

    Raises LaunchError for an unknown program, an input that does not fit, or too many programs.
    """
    return Child(launch_async(program, input))


spawn = launch
"""The same as `launch`. The engine forgets a child that has ended once its handle is gone."""
