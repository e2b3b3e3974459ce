"""Page accounting: which pages exist, who holds them, and which tokens they represent. This room never sees a
tensor."""

from pie_mlx.engine.kv.contexts.context import Context, Holdings, PageCount, SharedPages, count_pages, share_out
from pie_mlx.engine.kv.contexts.misses import PageMiss
from pie_mlx.engine.kv.pages.kept_states import KeptStates
from pie_mlx.engine.kv.pages.record import IntegrityError, KeptState, PageHasher, PageRecord, WorkingToken
from pie_mlx.engine.kv.pages.values import (
    CommitResult,
    Evicted,
    Fill,
    Fork,
    Mark,
    Opened,
    PageContent,
    PageCopy,
    PageRead,
    PoolUsage,
    Restore,
    Rows,
    SpillKey,
    SuspensionResult,
    Transcript,
)
from pie_mlx.engine.kv.store import PageStore

__all__ = [
    "CommitResult",
    "Context",
    "Evicted",
    "Fill",
    "Fork",
    "Holdings",
    "IntegrityError",
    "KeptState",
    "KeptStates",
    "Mark",
    "Opened",
    "PageContent",
    "PageCopy",
    "PageCount",
    "PageHasher",
    "PageMiss",
    "PageRead",
    "PageRecord",
    "PageStore",
    "PoolUsage",
    "Restore",
    "Rows",
    "SharedPages",
    "SpillKey",
    "SuspensionResult",
    "Transcript",
    "WorkingToken",
    "count_pages",
    "share_out",
]
