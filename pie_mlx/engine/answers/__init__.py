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
)
from pie_mlx.engine.answers.base import Answerer, handlers

__all__ = [
    "Answerer",
    "adapters",
    "contexts",
    "forward",
    "grammars",
    "handlers",
    "http",
    "launch",
    "market",
    "mcp",
    "messaging",
    "models",
    "session",
]
