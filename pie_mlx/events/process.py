"""Processes: one launch of an inferlet, named by a lower-case UUID."""

from typing import Literal

from pie_mlx.events.base import Event

SIGNAL = "Signal"
"""The message of `ProcessFailed` for a process that a client has ended."""

CANCELLED = "ProcessCancelledError"
"""The class of error of `ProcessFailed` for processes that were ended from outside."""


def told_message(error_type: str, message: str) -> str:
    """The message of a failure for people; SIGNAL is for clients, which compare it."""
    return "it was ended by 'pie kill' or another client" if (error_type, message) == (CANCELLED, SIGNAL) else message


class ProcessLaunched(Event, frozen=True):
    """A program was started for a user, by the process `parent` or from outside; `input` is its JSON input, cut.

    `asked_seconds` is when the HTTP request that it answers had arrived, 0 if it answers none, and `traceparent` that
    header of the request.
    """

    process: str
    username: str
    program: str
    token_budget: int | None = None
    parent: str = ""
    input: str = ""
    asked_seconds: float = 0.0
    at_seconds: float = 0.0
    traceparent: str = ""


class ProcessQueued(Event, frozen=True):
    """A launch waits for `reason`. It starts later, or fails if it is given up."""

    process: str
    username: str
    program: str
    reason: str
    at_seconds: float = 0.0


class ProcessOutput(Event, frozen=True):
    """Text the program wrote to a standard stream."""

    process: str
    stream: Literal["stdout", "stderr"]
    text: str


class ProcessMessage(Event, frozen=True):
    """The program sent its client a message."""

    process: str
    text: str
    format: Literal["text", "json"] = "text"


class ProcessFile(Event, frozen=True):
    """The program sent its client a file; the bytes travel beside the log."""

    process: str
    name: str
    size_bytes: int


class ProcessReturned(Event, frozen=True):
    """The program ended well. `value` is text, JSON text, or "" when there is none.

    `status` is the HTTP status of its answer, 0 if it answered no request.
    """

    process: str
    value: str
    format: Literal["text", "json", "none"] = "text"
    status: int = 0
    at_seconds: float = 0.0


class ProcessFailed(Event, frozen=True):
    """The program ended with an exception of class `error_type`; `hint` is what to do, "" if unknown."""

    process: str
    error_type: str
    message: str
    hint: str = ""
    at_seconds: float = 0.0


class HttpFetched(Event, frozen=True):
    """A program's connection to a host, through its proxy, has ended; `error` is why the proxy refused or lost it.

    `request` is method and path where the proxy sees them, "" for a tunnel (https).
    """

    process: str
    host: str
    port: int
    duration_seconds: float
    at_seconds: float
    request: str = ""
    error: str = ""
