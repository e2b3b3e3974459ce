"""The input of a program, for scripts: they have no argument for it."""

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from inferlet._calls.host import current_host
from pie_mlx.errors import EngineStoppedError

_current: ContextVar[dict[str, Any]] = ContextVar("pie_mlx_input")


def input() -> dict[str, Any]:
    """The input of this program. Raises EngineStoppedError outside of one."""
    found = _current.get(None)
    if found is None:
        current_host()
        raise EngineStoppedError("no input: this code does not run inside a blocking inferlet", hint="use `pie run`")
    return found


@contextmanager
def program_input(value: dict[str, Any]) -> Generator[None, None, None]:
    """Make `value` the input of the program that runs inside."""
    token = _current.set(value)
    try:
        yield
    finally:
        _current.reset(token)
