"""What happened: the frozen events an engine emits, in the order they happened.

The kind of an event is its class name in snake case. Fields are only ever added, each with a default, so that a reader
understands older logs; a change of meaning raises `EVENTS_VERSION`. Moments (`..._seconds`) are times of the engine's
monotonic clock, whose origin has no meaning; 0 means that an older engine recorded none.
"""

from pie_mlx.events.adapter import AdapterChanged, AdapterDestroyed
from pie_mlx.events.base import EVENTS_VERSION, Event
from pie_mlx.events.context import (
    ContextCreated,
    ContextForked,
    ContextPages,
    ContextReleased,
    ContextRestored,
    ContextRestoring,
    ContextSuspended,
    PagesCounted,
    PageUsage,
    ProcessPages,
    SnapshotStored,
    WaitChanged,
)
from pie_mlx.events.details import (
    DETAIL_KINDS,
    CallAnswered,
    MessageReceived,
    MessageSent,
    TokensComputed,
    WantedDetails,
)
from pie_mlx.events.market import AccountJoined, AccountLeft, AccountMovement, BidDeclared, MarketSettled
from pie_mlx.events.mcp import McpCalled, McpServerStarted, McpServerStopped, McpTool, McpToolsListed
from pie_mlx.events.process import (
    CANCELLED,
    SIGNAL,
    HttpFetched,
    ProcessFailed,
    ProcessFile,
    ProcessLaunched,
    ProcessMessage,
    ProcessOutput,
    ProcessQueued,
    ProcessReturned,
    told_message,
)
from pie_mlx.events.tokens import DrawnToken, LikelyToken, TokensDrawn
from pie_mlx.events.work import (
    DiskCacheChanged,
    EngineStarted,
    MemoryChanged,
    ModelChanged,
    ModelProgressed,
    PagesDropped,
    PagesLoaded,
    PagesSpilled,
    PagesStored,
    PassCompleted,
    PromptProgressed,
    SpillChanged,
    TickCompleted,
)

ProcessEvent = ProcessLaunched | ProcessOutput | ProcessMessage | ProcessFile | ProcessReturned | ProcessFailed

EngineEvent = (
    ProcessQueued
    | EngineStarted
    | ModelChanged
    | ModelProgressed
    | ContextCreated
    | ContextForked
    | ContextReleased
    | PassCompleted
    | PromptProgressed
    | TokensDrawn
    | TickCompleted
    | ContextSuspended
    | ContextRestoring
    | ContextRestored
    | WaitChanged
    | PagesCounted
    | PagesSpilled
    | SpillChanged
    | PagesStored
    | PagesDropped
    | PagesLoaded
    | SnapshotStored
    | DiskCacheChanged
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
    | HttpFetched
    | CallAnswered
    | MessageSent
    | MessageReceived
    | TokensComputed
)


OF_POOLS = (
    TickCompleted
    | SpillChanged
    | DiskCacheChanged
    | MemoryChanged
    | PagesCounted
    | PagesSpilled
    | ContextCreated
    | ContextForked
    | AccountJoined
    | AccountLeft
    | MarketSettled
)
"""Events of one model's pool and market. Their `model` is "" for the first model of the engine."""


def is_of_other_pool(event: Event) -> bool:
    """Whether it is of the pool or the market of a model other than the first."""
    return isinstance(event, OF_POOLS) and bool(event.model)


class ClockRead(Event, frozen=True):
    """When the events that follow were recorded, in seconds of the recorder's monotonic clock."""

    at_seconds: float


AnyEvent = ProcessEvent | EngineEvent | ClockRead

__all__ = [
    "CANCELLED",
    "DETAIL_KINDS",
    "EVENTS_VERSION",
    "OF_POOLS",
    "SIGNAL",
    "AccountJoined",
    "AccountLeft",
    "AccountMovement",
    "AdapterChanged",
    "AdapterDestroyed",
    "AnyEvent",
    "BidDeclared",
    "CallAnswered",
    "ClockRead",
    "ContextCreated",
    "ContextForked",
    "ContextPages",
    "ContextReleased",
    "ContextRestored",
    "ContextRestoring",
    "ContextSuspended",
    "DiskCacheChanged",
    "DrawnToken",
    "EngineEvent",
    "EngineStarted",
    "Event",
    "HttpFetched",
    "LikelyToken",
    "MarketSettled",
    "McpCalled",
    "McpServerStarted",
    "McpServerStopped",
    "McpTool",
    "McpToolsListed",
    "MemoryChanged",
    "MessageReceived",
    "MessageSent",
    "ModelChanged",
    "ModelProgressed",
    "PageUsage",
    "PagesCounted",
    "PagesDropped",
    "PagesLoaded",
    "PagesSpilled",
    "PagesStored",
    "PassCompleted",
    "ProcessEvent",
    "ProcessFailed",
    "ProcessFile",
    "ProcessLaunched",
    "ProcessMessage",
    "ProcessOutput",
    "ProcessPages",
    "ProcessQueued",
    "ProcessReturned",
    "PromptProgressed",
    "SnapshotStored",
    "SpillChanged",
    "TickCompleted",
    "TokensComputed",
    "TokensDrawn",
    "WaitChanged",
    "WantedDetails",
    "is_of_other_pool",
    "told_message",
]
