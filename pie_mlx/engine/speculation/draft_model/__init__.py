"""I am the second, smaller model, which writes ahead of the large one; what I write are guesses."""

from pie_mlx.engine.speculation.draft_model.desk import DraftDesk
from pie_mlx.engine.speculation.draft_model.guess import Guess, Guesses
from pie_mlx.engine.speculation.draft_model.sequences import DraftSequences

__all__ = ["DraftDesk", "DraftSequences", "Guess", "Guesses"]
