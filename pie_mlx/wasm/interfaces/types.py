"""`pie:core/types`: texts and files that arrive later."""

from pie_mlx.errors import SessionClosedError
from pie_mlx.wasm.offers import Interface
from pie_mlx.wasm.waiting import Arrivals
from pie_mlx.wasm.wasi.poll import Pollable


class FutureString:
    """A text, once; None while there is none, and when none can come any more."""

    def __init__(self, arrivals: Arrivals[str]) -> None:
        self._arrivals = arrivals

    def pollable(self) -> Pollable:
        return Pollable(self._arrivals.pending)

    def get(self) -> str | None:
        try:
            return self._arrivals.take()
        except SessionClosedError:
            return None


class FutureBlob:
    """The bytes of a file, as `FutureString`."""

    def __init__(self, arrivals: Arrivals[bytes]) -> None:
        self._arrivals = arrivals

    def pollable(self) -> Pollable:
        return Pollable(self._arrivals.pending)

    def get(self) -> bytes | None:
        try:
            return self._arrivals.take()
        except SessionClosedError:
            return None


INTERFACES = (Interface("pie:core/types", (), (FutureString, FutureBlob)),)
