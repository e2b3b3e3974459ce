"""What the engine does for each host call, one module per topic."""

from pie_mlx.engine.answers import (
    adapters,
    contexts,
    forward,
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
from pie_mlx.engine.answers.base import Answerer, Lookup, handlers, lookups

__all__ = [
    "Answerer",
    "Lookup",
    "adapters",
    "contexts",
    "forward",
    "grammars",
    "handlers",
    "http",
    "launch",
    "lookups",
    "market",
    "mcp",
    "messaging",
    "models",
    "session",
    "snapshots",
]
