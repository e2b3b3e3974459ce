"""I am the second, smaller model, which writes ahead of the large one; what I write are guesses."""

from pie_mlx.engine.speculation.draft_model.guess import Guess, Guesses
from pie_mlx.engine.speculation.draft_model.runner import DraftModelRunner
from pie_mlx.engine.speculation.draft_model.sequences import DraftSequences

__all__ = ["DraftModelRunner", "DraftSequences", "Guess", "Guesses"]
