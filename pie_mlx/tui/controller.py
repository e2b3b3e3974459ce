"""The commands that a monitor can send to an engine."""

from typing import Any, Protocol

from pie_mlx.errors import InvalidArgumentError


class Controller(Protocol):
    """`refusal` says why no command is possible; empty if they are. All methods raise PieError."""

    @property
    def refusal(self) -> str: ...

    async def kill(self, process: str) -> None: ...

    async def suspend(self, process: str) -> None: ...

    async def set_bid(self, process: str, bid: float) -> None:
        """`bid` in credits per page and tick, 0 or more."""
        ...

    async def attach(self, process: str) -> None:
        """Attach this monitor to the process."""
        ...

    async def send(self, process: str, text: str) -> None:
        """Send a message for `session.receive`."""
        ...

    async def send_file(self, process: str, path: str) -> None: ...

    async def launch(self, program: str, input: dict[str, Any], token_budget: int | None) -> str:
        """Start an installed program; returns its process id."""
        ...


class ReadOnlyController:
    """Refuses every command, with the reason."""

    def __init__(self, refusal: str) -> None:
        self.refusal = refusal

    async def kill(self, process: str) -> None:
        self._refuse()

    async def suspend(self, process: str) -> None:
        self._refuse()

    async def set_bid(self, process: str, bid: float) -> None:
        self._refuse()

    async def attach(self, process: str) -> None:
        self._refuse()

    async def send(self, process: str, text: str) -> None:
        self._refuse()

    async def send_file(self, process: str, path: str) -> None:
        self._refuse()

    async def launch(self, program: str, input: dict[str, Any], token_budget: int | None) -> str:
        return self._refuse()

    def _refuse(self) -> str:
        raise InvalidArgumentError(self.refusal, hint="connect to a running engine: pie top")
