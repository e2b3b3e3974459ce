"""The HTTP request that a process answers."""

from pie_mlx.calls.base import Call, Record


class HttpRequest(Record, frozen=True):
    """`query` is the raw text after the question mark; header names are in lower case, in the order of arrival."""

    method: str
    path: str
    query: str = ""
    headers: list[tuple[str, str]] = []
    body: bytes = b""


class ReadHttpRequest(Call[HttpRequest], frozen=True):
    """The request of this process. Raises SessionClosedError if it has none."""


class BeginHttpAnswer(Call[None], frozen=True):
    """Status and headers of the answer; once. Raises InvalidArgumentError for invalid ones, or the second time."""

    status: int
    headers: list[tuple[str, str]] = []


class WriteHttpBody(Call[None], frozen=True):
    """More of the answer's body. The `last` piece completes the answer, and the client need not wait for the process.

    Waits while the client reads too slowly. Raises SessionClosedError if the client is gone.
    """

    data: bytes
    last: bool = False
