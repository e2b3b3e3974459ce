"""`wasi:io/poll` and `wasi:io/error`."""

from pie_mlx.errors import InvalidArgumentError
from pie_mlx.wasm.offers import Interface
from pie_mlx.wasm.waiting import Pending, is_ready, wait_for_any


class Pollable:
    """Something to wait for."""

    def __init__(self, pending: Pending) -> None:
        self.pending = pending

    def ready(self) -> bool:
        return is_ready(self.pending)

    def block(self) -> None:
        wait_for_any([self.pending])


class Error:
    """Why a stream failed. `number` is the system's."""

    def __init__(self, text: str, number: int | None = None) -> None:
        self._text = text
        self.number = number

    def to_debug_string(self) -> str:
        return self._text


def poll(pollables: list[Pollable]) -> list[int]:
    """Which of them are ready, once one is. Raises InvalidArgumentError without any, for ever otherwise."""
    if not pollables:
        raise InvalidArgumentError("poll: nothing to wait for", hint="pass at least one pollable")
    return wait_for_any([one.pending for one in pollables])


INTERFACES = (Interface("wasi:io/poll", (poll,), (Pollable,)), Interface("wasi:io/error", (), (Error,)))
