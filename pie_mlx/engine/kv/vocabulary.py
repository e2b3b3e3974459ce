"""Token ids that come from elsewhere."""

from collections.abc import Sequence

from pie_mlx.errors import InvalidArgumentError


def check_tokens(tokens: Sequence[int], vocabulary_size: int) -> None:
    """Raises InvalidArgumentError for a token id outside the vocabulary (F5)."""
    if tokens and not (min(tokens) >= 0 and max(tokens) < vocabulary_size):
        bad = next(token for token in tokens if not 0 <= token < vocabulary_size)
        raise InvalidArgumentError(
            f"token {bad}: outside the vocabulary of {vocabulary_size}", hint="use ids the tokenizer gave"
        )
