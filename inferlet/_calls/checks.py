"""Checks of the tokens, texts and numbers that programs pass."""

from collections.abc import Iterable
from operator import index

from pie_mlx.errors import InvalidArgumentError, InvalidTypeError

MOST_TOKENS = (1 << 63) - 1
"""The largest limit or horizon that a call carries: higher ones mean this."""


def token_list(tokens: Iterable[int], vocabulary_size: int) -> list[int]:
    """Plain ints, also from arrays. Raises InvalidTypeError for anything else and InvalidArgumentError outside the
    vocabulary (F5)."""
    found = integers(tokens, "tokens")
    if found and not (min(found) >= 0 and max(found) < vocabulary_size):
        bad = next(token for token in found if not 0 <= token < vocabulary_size)
        raise InvalidArgumentError(
            f"tokens: {bad} is outside the vocabulary of {vocabulary_size}", hint="encode text with model.tokenizer()"
        )
    return found


def checked_text(text: object, what: str) -> str:
    """The text itself. Raises InvalidTypeError for anything but a str, InvalidArgumentError for lone surrogates, which
    no wire carries."""
    if not isinstance(text, str):
        raise InvalidTypeError(f"{what}: got {type(text).__name__}", hint="pass a str")
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise InvalidArgumentError(f"{what}: not Unicode text: {error.reason}", hint="remove surrogates") from None
    return text


def integers(values: Iterable[int], what: str) -> list[int]:
    """Plain ints, also from arrays. Raises InvalidTypeError for anything else."""
    try:
        return [index(value) for value in values]
    except TypeError as error:
        raise InvalidTypeError(f"{what}: {error}", hint="pass a list of ints") from error


def integer(value: int, what: str) -> int:
    """A plain int, also from an array. Raises InvalidTypeError for anything else."""
    try:
        return index(value)
    except TypeError as error:
        raise InvalidTypeError(f"{what}: {error}", hint="pass an int") from error


def number(value: object, what: str) -> float:
    """A float, also from an array. Raises InvalidTypeError for anything else."""
    try:
        return float(value)  # pyright: ignore[reportArgumentType]
    except (TypeError, ValueError) as error:
        raise InvalidTypeError(f"{what}: got {type(value).__name__}", hint="pass a number") from error
    except OverflowError as error:
        raise InvalidArgumentError(f"{what}: larger than any float", hint="pass a smaller number") from error


def token_limit(name: str, value: int | None) -> int | None:
    """A largest number of tokens, None for no limit. Raises InvalidArgumentError below 0."""
    if value is None:
        return None
    count = integer(value, name)
    if count < 0:
        raise InvalidArgumentError(f"{name}: {count} is negative", hint="pass 0 or more, or None for no limit")
    return min(count, MOST_TOKENS)
