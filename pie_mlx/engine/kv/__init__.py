"""Page accounting: which pages exist, who holds them, and which tokens they represent. This room never sees a
tensor."""

from pie_mlx.engine.kv.contexts.context import Context
from pie_mlx.engine.kv.contexts.holdings import Holdings, PageCount, SharedPages, count_pages, share_out
from pie_mlx.engine.kv.contexts.misses import PageMiss
from pie_mlx.engine.kv.pages.kept_states import KeptStates
from pie_mlx.engine.kv.pages.keys import PageHasher
from pie_mlx.engine.kv.pages.segment import IntegrityError, KeptState, PageRecord
from pie_mlx.engine.kv.pages.values import (
    CommitResult,
    Evicted,
    Fill,
    Fork,
    Lasting,
    Mark,
    Opened,
    PageContent,
    PageCopy,
    PageRead,
    PoolUsage,
    Restore,
    Rows,
    SpillKey,
    Stored,
    StoredPage,
    StoredState,
    SuspensionResult,
    Transcript,
)
from pie_mlx.engine.kv.pages.working_token import WorkingToken
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
    "Lasting",
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
    "Stored",
    "StoredPage",
    "StoredState",
    "SuspensionResult",
    "Transcript",
    "WorkingToken",
    "count_pages",
    "share_out",
]
