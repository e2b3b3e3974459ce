"""Custom speculation."""

from typing import Protocol, runtime_checkable

Drafts = tuple[list[int], list[int]] | tuple[list[int], list[int], list[int]]
"""Guessed tokens and their absolute positions; the third list, if there is one, makes a tree of them."""


@runtime_checkable
class Speculator(Protocol):
    """Guesses the next tokens so that several can be verified in one pass."""

    def draft(self) -> Drafts:
        """Guessed tokens and their absolute positions; two empty lists for a plain step.

        The first draft's position is the number of tokens in the context, buffer included; each further one comes
        next. With a third list, several guesses at one position can be verified at once: for each draft the index of
        the earlier draft it follows, -1 for none, and its position is the next after that draft's.
        """
        ...

    def accept(self, tokens: list[int]) -> None:
        """The tokens that the pass produced, before stops and limits cut them."""
        ...

    def rollback(self, n: int) -> None:
        """`n` of the drafted tokens were wrong, or were not verified."""
        ...

    def reset(self) -> None:
        """Forget everything; called once when attached."""
        ...
