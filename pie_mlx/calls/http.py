"""The HTTP request a process answers."""

from pie_mlx.calls.base import Call, Record


class HttpRequest(Record, frozen=True):
    """`query` is the raw text behind the question mark; header names are in lower case, in the order of arrival."""

    method: str
    path: str
    query: str = ""
    headers: list[tuple[str, str]] = []
    body: bytes = b""


class ReadHttpRequest(Call[HttpRequest], frozen=True):
    """The request this process was started for. Raises SessionClosedError when it was started for none."""


class BeginHttpAnswer(Call[None], frozen=True):
    """Status and headers of the answer; once. Raises InvalidArgumentError for what is none, or the second time."""

    status: int
    headers: list[tuple[str, str]] = []


class WriteHttpBody(Call[None], frozen=True):
    """More of the answer's body; after the `last` the answer is whole, and the client need not wait for the process.

    Waits while the client reads too slowly. Raises SessionClosedError when it is gone.
    """

    data: bytes
    last: bool = False
