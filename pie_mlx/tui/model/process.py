"""A launch of a program, and its output."""

import re
from typing import Literal

import msgspec

from pie_mlx.events import CANCELLED, ProcessLaunched, told_message
from pie_mlx.tui.model.context import Span, with_span
from pie_mlx.tui.model.text import shortened

Outcome = Literal["", "returned", "failed", "killed"]
Stream = Literal["message", "stdout", "stderr", "file", "sent"]

REQUESTS = "openai"
"""The program that answers requests; its input names the path."""
_PATH = re.compile(r'\{"path": "([^"]+)"')

KILLED = frozenset({CANCELLED, "Signal"})
"""Errors of programs that were ended from outside."""

OUTPUT_PIECES = 200
PIECE_CHARACTERS = 2000


class Output(msgspec.Struct, frozen=True):
    """A piece of text of one stream. `sent` is the stream from this monitor's user to the program."""

    stream: Stream
    text: str
    seconds: float


class ProcessState(msgspec.Struct, frozen=True):
    """`own_pages` of the pool are held by no other process, `shared_pages` by others too. `tokens` were computed for
    it. `recent_decoded` were added to its text since the last sample; `rate`, of them per second, lags by a sample.

    `tools` are its latest calls of MCP servers. `outcome` is empty while it lives; `result` is its return value
    or error afterwards. `rates` and `held` are its rates and its pages, one for each latest second. `input` is
    the start of its input, as JSON. `miss` is why its latest prompt was computed.
    """

    id: str
    username: str
    program: str
    launched_seconds: float
    token_budget: int | None = None
    account: int = 0
    own_pages: int = 0
    shared_pages: int = 0
    tokens: int = 0
    recent_decoded: int = 0
    rate: float = 0.0
    passes: int = 0
    outcome: Outcome = ""
    result: str = ""
    ended_seconds: float = 0.0
    output: tuple[Output, ...] = ()
    tools: tuple[Span, ...] = ()
    input: str = ""
    parent: str = ""
    miss: str = ""
    rates: tuple[float, ...] = ()
    held: tuple[int, ...] = ()

    @property
    def lives(self) -> bool:
        return not self.outcome

    @property
    def endpoint(self) -> str:
        """The path of the request that it answers; empty for other programs."""
        found = _PATH.match(self.input) if self.program.partition("@")[0] == REQUESTS else None
        return found[1] if found else ""


def launched(event: ProcessLaunched, seconds: float) -> ProcessState:
    """A process that starts at `seconds`."""
    return ProcessState(
        event.process,
        event.username,
        event.program,
        seconds,
        event.token_budget,
        input=event.input,
        parent=event.parent,
    )


def ending(error_type: str, text: str) -> tuple[Outcome, str]:
    """The outcome of a process and its result, from the class and message of its error, or from the returned text."""
    if not error_type:
        return "returned", text
    text = told_message(error_type, text)
    return ("killed", text) if error_type in KILLED else ("failed", f"{error_type}: {text}")


def ended(process: ProcessState, outcome: Outcome, result: str, seconds: float) -> ProcessState:
    """The process after its end."""
    return msgspec.structs.replace(
        process,
        outcome=outcome,
        result=shortened(result, PIECE_CHARACTERS),
        ended_seconds=seconds,
        rate=0.0,
        recent_decoded=0,
        own_pages=0,
        shared_pages=0,
    )


def with_call(process: ProcessState, took_seconds: float, seconds: float) -> ProcessState:
    """The process after a call of an MCP server."""
    call = Span("tool", seconds - took_seconds, seconds)
    return msgspec.structs.replace(process, tools=with_span(process.tools, call))


def with_output(process: ProcessState, stream: Stream, text: str, seconds: float) -> ProcessState:
    """The process with `text` added, of which both ends are kept; successive pieces of one stream are joined."""
    text = shortened(text, PIECE_CHARACTERS)
    output = process.output
    if output and output[-1].stream == stream != "file" and len(output[-1].text) < PIECE_CHARACTERS:
        latest = Output(stream, output[-1].text + text, seconds)
        return msgspec.structs.replace(process, output=(*output[:-1], latest))
    return msgspec.structs.replace(process, output=(*output[1 - OUTPUT_PIECES :], Output(stream, text, seconds)))
