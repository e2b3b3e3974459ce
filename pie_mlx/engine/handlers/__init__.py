"""What the engine does for each host call, one module per topic."""

from pie_mlx.engine.handlers import (
    adapters,
    contexts,
    embedding,
    grammars,
    http,
    launch,
    market,
    mcp,
    messaging,
    models,
    session,
    snapshots,
)
from pie_mlx.engine.handlers.base import Handler, Lookup, handlers, lookups, process_handlers
from pie_mlx.engine.handlers.forward import handler

__all__ = [
    "Handler",
    "Lookup",
    "adapters",
    "contexts",
    "embedding",
    "grammars",
    "handler",
    "handlers",
    "http",
    "launch",
    "lookups",
    "market",
    "mcp",
    "messaging",
    "models",
    "process_handlers",
    "session",
    "snapshots",
]
