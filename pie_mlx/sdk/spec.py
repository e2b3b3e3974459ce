"""Custom speculation."""

from typing import Protocol, runtime_checkable


@runtime_checkable
class Speculator(Protocol):
    """Guesses the next tokens so that several can be verified in one pass (V4)."""

    def draft(self) -> tuple[list[int], list[int]]:
        """Guessed tokens and their absolute positions; two empty lists for a plain step."""
        ...

    def accept(self, tokens: list[int]) -> None:
        """The tokens the pass produced, before stops and limits cut them."""
        ...

    def rollback(self, n: int) -> None:
        """The last `n` drafted tokens were wrong."""
        ...

    def reset(self) -> None:
        """Forget everything; called once when attached."""
        ...
