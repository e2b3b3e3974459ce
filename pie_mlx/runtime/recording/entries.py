"""What a recording consists of. Times are nanoseconds since its beginning."""

from typing import Literal

import msgspec

from pie_mlx.runtime.worker.frames.messages import AnyCall, WireError

VERSION = 1


class Entry(msgspec.Struct, frozen=True, array_like=True, omit_defaults=True):
    """One frame of the file. `process` counts the recorded processes, in the order of their launches."""


class Begun(Entry, frozen=True, tag="begun"):
    """The first entry: when it began, in nanoseconds since 1970 and of the monotonic clock, and with which model."""

    wall_ns: int
    monotonic_ns: int
    model: str = ""
    pie: str = ""


class Launched(Entry, frozen=True, tag="launched"):
    """A process begins. `path` is where its source was, "" for a function.

    `parent` is -1 for one that no process launched; `child` is the id by which its parent knows it. `seed` is that of
    its random draws, 0 if they and its clock are not recorded. `source` and `manifest` are the program as it is packed.
    """

    process: int
    time_ns: int
    identity: str
    path: str
    input: str
    parent: int = -1
    child: str = ""
    seed: int = 0
    source: bytes = b""
    manifest: str = ""


class Called(Entry, frozen=True, tag="called"):
    """A call; `number` counts those of its process."""

    process: int
    number: int
    time_ns: int
    message: AnyCall


class Replied(Entry, frozen=True, tag="replied"):
    """The reply to a call, encoded."""

    process: int
    number: int
    time_ns: int
    reply: msgspec.Raw


class Refused(Entry, frozen=True, tag="refused"):
    """The error that answered a call."""

    process: int
    number: int
    time_ns: int
    error: WireError


class Clock(Entry, frozen=True, tag="clock"):
    """The program read a clock."""

    process: int
    time_ns: int


class Ended(Entry, frozen=True, tag="ended"):
    """How a process ended: `value` in `format`, or an error."""

    process: int
    time_ns: int
    value: str = ""
    format: Literal["text", "json", "none"] = "none"
    error: WireError | None = None


AnyEntry = Begun | Launched | Called | Replied | Refused | Clock | Ended
