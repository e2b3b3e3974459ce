"""Page accounting: which pages exist, who holds them, what they stand for. I have never seen a tensor."""

from pie_mlx.engine.kv.holdings import Holdings, SharedPages
from pie_mlx.engine.kv.integrity_error import IntegrityError
from pie_mlx.engine.kv.keys import PageHasher
from pie_mlx.engine.kv.store import PageStore
from pie_mlx.engine.kv.values import (
    CommitResult,
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
    Suspension,
    Transcript,
)
from pie_mlx.engine.kv.working_token import WorkingToken

__all__ = [
    "CommitResult",
    "Fill",
    "Fork",
    "Holdings",
    "IntegrityError",
    "Mark",
    "Opened",
    "PageContent",
    "PageCopy",
    "PageHasher",
    "PageRead",
    "PageStore",
    "PoolUsage",
    "Restore",
    "Rows",
    "SharedPages",
    "SpillKey",
    "Suspension",
    "Transcript",
    "WorkingToken",
]
