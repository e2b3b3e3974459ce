"""I am the model's own draft head, which guesses from what the model remembers of its last token."""

from pie_mlx.engine.speculation.draft_head.runner import DraftHeadRunner, HeadGuess

__all__ = ["DraftHeadRunner", "HeadGuess"]
