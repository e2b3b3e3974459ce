"""What happened: the frozen events an engine emits, in the order they happened.

The kind of an event is its class name in snake case. Fields are only ever added, each with a default, so that a reader
understands older logs; a change of meaning raises `EVENTS_VERSION`. Moments (`..._seconds`) are times of the engine's
monotonic clock, whose origin has no meaning; 0 means that an older engine recorded none.
"""

from typing import Literal

import msgspec

EVENTS_VERSION = 1

SIGNAL = "Signal"
"""The message of `ProcessFailed` for a process that a client has ended."""

CANCELLED = "ProcessCancelledError"
"""The class of error of `ProcessFailed` for processes that were ended from outside."""


def told_message(error_type: str, message: str) -> str:
    """The message of a failure for people; SIGNAL is for clients, which compare it."""
    return "it was ended by 'pie kill' or another client" if (error_type, message) == (CANCELLED, SIGNAL) else message


def _snake_case(class_name: str) -> str:
    return "".join("_" + letter.lower() if letter.isupper() else letter for letter in class_name).lstrip("_")


class Event(msgspec.Struct, frozen=True, tag=_snake_case, tag_field="kind"):
    """Something that happened in an engine."""

    @property
    def kind(self) -> str:
        return str(self.__struct_config__.tag)


# Processes: one launch of an inferlet, named by a lower-case UUID.


class ProcessLaunched(Event, frozen=True):
    """A program was started for a user, by the process `parent` or from outside; `input` is its JSON input, cut."""

    process: str
    username: str
    program: str
    token_budget: int | None = None
    parent: str = ""
    input: str = ""


class ProcessQueued(Event, frozen=True):
    """A launch waits for `reason`. It starts later, or fails if it is given up."""

    process: str
    username: str
    program: str
    reason: str


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
    """The program ended well. `value` is text, JSON text, or "" when there is none."""

    process: str
    value: str
    format: Literal["text", "json", "none"] = "text"


class ProcessFailed(Event, frozen=True):
    """The program ended with an exception of class `error_type`; `hint` is what to do, "" if unknown."""

    process: str
    error_type: str
    message: str
    hint: str = ""


ProcessEvent = ProcessLaunched | ProcessOutput | ProcessMessage | ProcessFile | ProcessReturned | ProcessFailed


# The engine.


class EngineStarted(Event, frozen=True):
    """A model and a pool of `total_pages` pages of `page_size` tokens are ready; `policy` is the scheduler's."""

    model: str
    policy: str
    total_pages: int
    page_size: int


# Contexts: numbers are unique within an engine.


class PageUsage(msgspec.Struct, frozen=True):
    """Pages of the pool: `used` are held (`shared` by more than one holder), `cached` are kept but free to take,
    `withheld` are not used while the system is short of memory."""

    total: int
    used: int
    shared: int
    cached: int
    withheld: int = 0

    @property
    def free(self) -> int:
        """Pages without content worth keeping."""
        return self.total - self.used - self.cached - self.withheld


class ContextCreated(Event, frozen=True):
    """An empty context of `account`, or one opened from a snapshot that brought `shared_pages`."""

    process: str
    context: int
    shared_pages: int = 0
    account: int = 0


class ContextForked(Event, frozen=True):
    """A copy of `source` that shares its committed pages."""

    process: str
    context: int
    source: int
    shared_pages: int
    account: int = 0
    at_seconds: float = 0.0


class ContextReleased(Event, frozen=True):
    """A context gave back its pages; `pages` are those after it, None in logs of older engines."""

    process: str
    context: int
    at_seconds: float = 0.0
    pages: PageUsage | None = None


# Work.


class PassCompleted(Event, frozen=True):
    """One forward pass: tokens attached from the prefix cache, tokens computed, and rows read.

    `held_tokens` were in the context before it. `bid` is what the context bid in the end; it was computed from the
    horizon `remaining_tokens` and `variation`, or declared by the program when `remaining_tokens` is 0. Of the tokens
    that the engine itself drafted for it, `guessed_tokens`, the first `guessed_right` were verified. `following` passes
    of a token each came right behind it, or were drawn ahead of it, and are counted with it.
    """

    process: str
    context: int
    attached_tokens: int
    computed_tokens: int
    rows_read: int
    held_tokens: int = 0
    requested_seconds: float = 0.0
    completed_seconds: float = 0.0
    bid: float = 0.0
    remaining_tokens: float = 0.0
    variation: float = 1.0
    guessed_tokens: int = 0
    guessed_right: int = 0
    following: int = 0


class TickCompleted(Event, frozen=True):
    """One batch: contexts and tokens in it, contexts left waiting, and the pages after it.

    `ahead`: it was computed before the programs asked for it. `steps` counts the batch and those of a token per context
    that came right behind it; tokens and duration are of all of them.
    """

    tick: int
    contexts: int
    tokens: int
    waiting: int
    duration_seconds: float
    pages: PageUsage
    ahead: bool = False
    steps: int = 1


# Waiting and leaving the pool. `reason` is a `ReasonKind`, `text` the same for people.


class ContextSuspended(Event, frozen=True):
    """A context was suspended to make room for `for_context`, which is itself if it gave way or asked for it.

    `pages` are those after it, if no tick follows that reports them.
    """

    context: int
    for_context: int
    reason: str
    text: str
    pages: PageUsage | None = None


class ContextRestored(Event, frozen=True):
    """A context is in the pool again: pages found there, read from the spill file, and tokens computed again."""

    context: int
    attached_pages: int = 0
    copied_pages: int = 0
    read_pages: int = 0
    replayed_tokens: int = 0


class WaitChanged(Event, frozen=True):
    """The reason why a context waits has changed; it is empty when the context no longer waits."""

    context: int
    reason: str = ""
    text: str = ""


class PagesSpilled(Event, frozen=True):
    """Pages fell out of the pool and were written to the spill file, which now holds `stored_pages`."""

    pages: int
    stored_pages: int


class SpillChanged(Event, frozen=True):
    """The spill file works (`ready`), or pages are computed again because it is `full`, `failed` or `damaged`."""

    state: Literal["ready", "full", "failed", "damaged"]
    text: str


class MemoryChanged(Event, frozen=True):
    """The system's memory became short (`warning`, `critical`) or sufficient (`normal`), and the engine's measures.

    `available_bytes` are left for programs; `withheld_pages` of the pool stay unused.
    """

    level: Literal["normal", "warning", "critical"]
    text: str
    available_bytes: int
    withheld_pages: int = 0


# Money, in credits.


class BidDeclared(Event, frozen=True):
    """A program set the bid of a context, in credits per page and tick: 0 while it idles."""

    context: int
    bid: float


class AccountJoined(Event, frozen=True):
    """A launch root got an account."""

    account: int
    endowment: float
    token_budget: int | None = None
    at_seconds: float = 0.0


class AccountLeft(Event, frozen=True):
    """A launch root ended; `treasury` sums what all ended roots left above their endowments; negative if below."""

    account: int
    balance: float
    treasury: float


class AccountMovement(msgspec.Struct, frozen=True):
    """What one account paid and received in a tick, and its balance afterwards."""

    account: int
    rent: float
    make_cost: float
    dividend: float
    balance: float
    defaulted: bool = False


class MarketSettled(Event, frozen=True):
    """A tick moved credits or the clearing `price`, credits per page and tick. Idle accounts are left out."""

    tick: int
    price: float
    movements: tuple[AccountMovement, ...] = ()


# Adapters: numbers are unique within an engine.


class AdapterChanged(Event, frozen=True):
    """An adapter of a user has new weights, which take `size_bytes` of memory."""

    adapter: int
    username: str
    name: str
    version: int
    size_bytes: int


class AdapterDestroyed(Event, frozen=True):
    """An adapter is gone."""

    adapter: int
    username: str
    name: str


# MCP servers. Those of the configuration are the engine's; a call may also have gone to a server of a client.


class McpServerStarted(Event, frozen=True):
    """A configured server is connected, for the `start`th time."""

    server: str
    transport: Literal["stdio", "http"]
    start: int


class McpServerStopped(Event, frozen=True):
    """A configured server ended or did not start; `stderr` are its last lines."""

    server: str
    reason: str
    stderr: tuple[str, ...] = ()


class McpCalled(Event, frozen=True):
    """A program called a server and got its answer or the `error`."""

    process: str
    server: str
    method: str
    duration_seconds: float
    error: str = ""


class McpTool(msgspec.Struct, frozen=True):
    """A tool of a server; `description` is the beginning of what the server says about it."""

    name: str
    description: str = ""


class McpToolsListed(Event, frozen=True):
    """A program listed a server's tools; `continued` if these follow those of the previous event."""

    process: str
    server: str
    tools: tuple[McpTool, ...]
    continued: bool = False


EngineEvent = (
    ProcessQueued
    | EngineStarted
    | ContextCreated
    | ContextForked
    | ContextReleased
    | PassCompleted
    | TickCompleted
    | ContextSuspended
    | ContextRestored
    | WaitChanged
    | PagesSpilled
    | SpillChanged
    | MemoryChanged
    | BidDeclared
    | AccountJoined
    | AccountLeft
    | MarketSettled
    | AdapterChanged
    | AdapterDestroyed
    | McpServerStarted
    | McpServerStopped
    | McpCalled
    | McpToolsListed
)


# Recordings.


class ClockRead(Event, frozen=True):
    """When the events that follow were recorded, in seconds of the recorder's monotonic clock."""

    at_seconds: float


AnyEvent = ProcessEvent | EngineEvent | ClockRead
