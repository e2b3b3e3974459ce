"""What a trace consists of: processes with spans of time, arrows between them, and the batches of the engine."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

Track = Literal["program", "steps", "waits", "prefill", "decode", "tools", "http", "messages", "calls"]

TRACKS: tuple[Track, ...] = ("program", "steps", "waits", "prefill", "decode", "tools", "http", "messages", "calls")

OWN_CODE = "own code"
STEP, OTHER_CALLS = "step", "other calls"
WAIT = "wait: "
NEXT_BATCH = "next batch"
"""The wait of a pass without another reason: a batch runs, or others are gathered for the next one."""
ADMISSION = "admission"

NO_ARGUMENTS: Mapping[str, object] = {}


class Span(NamedTuple):
    """What took from `start` to `end`, in seconds of the engine's clock. `part` is what the time counts as."""

    track: Track
    name: str
    part: str
    start: float
    end: float
    arguments: Mapping[str, object] = NO_ARGUMENTS

    @property
    def seconds(self) -> float:
        return self.end - self.start


class Arrow(NamedTuple):
    """A message or a launch, from one process to another."""

    name: str
    sender: str
    sent: float
    receiver: str
    received: float


class Batch(NamedTuple):
    """One tick of the engine. `price` is the clearing price after it."""

    tick: int
    start: float
    end: float
    contexts: int
    tokens: int
    waiting: int
    used_pages: int
    price: float


@dataclass(slots=True)
class ProcessTrace:
    """One process. `outcome` is `returned`, `failed: ...`, or "" if it still ran at the end of the trace.

    `is_detailed`: its calls were recorded, so that its own code can be told from waits for answers.
    """

    id: str
    program: str = ""
    username: str = ""
    parent: str = ""
    start: float = 0.0
    end: float = 0.0
    outcome: str = ""
    is_detailed: bool = False
    passes: int = 0
    prefill_tokens: int = 0
    cached_tokens: int = 0
    decode_tokens: int = 0
    spans: list[Span] = field(default_factory=list[Span])

    @property
    def tokens(self) -> int:
        """Tokens that were computed for it."""
        return self.prefill_tokens + self.decode_tokens


@dataclass(frozen=True, slots=True)
class Trace:
    """Processes in the order of their starts. `missed` events were lost or left out."""

    processes: Mapping[str, ProcessTrace]
    arrows: tuple[Arrow, ...]
    batches: tuple[Batch, ...]
    start: float
    end: float
    model: str = ""
    missed: int = 0
