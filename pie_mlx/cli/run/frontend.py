"""What stands between a person and a program."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from typing import Protocol

from pie_mlx.cli.options import Common
from pie_mlx.cli.run.display import display_for
from pie_mlx.cli.run.request import RunRequest
from pie_mlx.cli.terminal.standard_input import MessageSink, send_typed_lines
from pie_mlx.events import ProcessEvent, ProcessOutput


class Frontend(Protocol):
    """Shows what a process gives out, and brings it what is typed."""

    def show(self, event: ProcessEvent) -> None:
        """The next event, in order."""
        ...

    async def forward_input(self, process: MessageSink) -> None:
        """Until nothing more will be typed."""
        ...


def frontend_for(request: RunRequest, common: Common) -> Frontend:
    """A terminal that takes turns with the program, or lines that are typed at any time."""
    if not request.takes_turns:
        return LineFrontend(common, shows_errors=common.json or common.debug or not request.is_builtin)
    from pie_mlx.cli.run.conversation import Conversation

    return Conversation()


class LineFrontend:
    """Every line is a message. What goes to standard error is shown only if this `shows_errors`."""

    def __init__(self, common: Common, *, shows_errors: bool = True) -> None:
        self._display = display_for(common)
        self._shows_errors = shows_errors

    def show(self, event: ProcessEvent) -> None:
        """The next event, in order."""
        if self._shows_errors or not (isinstance(event, ProcessOutput) and event.stream == "stderr"):
            self._display(event)

    async def forward_input(self, process: MessageSink) -> None:
        """Until nothing more will be typed."""
        await send_typed_lines(process)


@contextlib.asynccontextmanager
async def forwarding_input(frontend: Frontend, process: MessageSink) -> AsyncGenerator[None]:
    """Bring `process` what is typed, as long as the block runs; after it the terminal is as it was."""
    typing = asyncio.create_task(frontend.forward_input(process))
    try:
        yield
    finally:
        typing.cancel()
        await asyncio.gather(typing, return_exceptions=True)
