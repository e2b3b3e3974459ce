"""Where a program runs."""

from typing import Protocol


class Executor(Protocol):
    """Runs one program once and reports its outcome once, whatever happens. Methods may be called from any thread."""

    def start(self) -> None:
        """Begin. Called once."""
        ...

    def cancel(self, reason: str) -> None:
        """Ask the program to end: it then fails with a ProcessCancelledError that says `reason`. Idempotent."""
        ...

    def kill(self) -> None:
        """End it now, as far as that can be done. Idempotent."""
        ...
