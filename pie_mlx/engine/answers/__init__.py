"""What the engine does for each host call, one module per topic."""

from pie_mlx.engine.answers import contexts, forward, grammars, market, models, session
from pie_mlx.engine.answers.base import Answerer, handlers

__all__ = ["Answerer", "contexts", "forward", "grammars", "handlers", "market", "models", "session"]
