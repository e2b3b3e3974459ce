"""One handler per kind of frame, one module per topic. Knows sessions, not bytes."""

from pie_mlx.server.handlers import (
    authentication,
    batches,
    daemons,
    files,
    mcp,
    models,
    pages,
    processes,
    programs,
    queries,
    watching,
)
from pie_mlx.server.handlers.base import handlers

__all__ = [
    "authentication",
    "batches",
    "daemons",
    "files",
    "handlers",
    "mcp",
    "models",
    "pages",
    "processes",
    "programs",
    "queries",
    "watching",
]
