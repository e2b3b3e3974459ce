"""Shows a program's output to the user, and sends it the user's input."""

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
    """Shows the events of a process, and forwards typed input to it."""

    def show(self, event: ProcessEvent) -> None:
        """The next event, in order."""
        ...

    async def forward_input(self, process: MessageSink) -> None:
        """Runs until the input ends."""
        ...


def frontend_for(request: RunRequest, common: Common) -> Frontend:
    """A terminal that takes turns with the program, or lines that are typed at any time."""
    if request.inline:
        return OutputFrontend(common)
    if not request.takes_turns:
        return LineFrontend(common, shows_errors=common.json or common.debug or not request.is_builtin)
    from pie_mlx.cli.run.conversation import Conversation

    return Conversation()


class LineFrontend:
    """Every typed line is a message. Of standard error only lines for the user are shown without `shows_errors`: these
    begin with "pie: "."""

    def __init__(self, common: Common, *, shows_errors: bool = True) -> None:
        self._display = display_for(common)
        self._shows_errors = shows_errors

    def show(self, event: ProcessEvent) -> None:
        """The next event, in order."""
        is_error = isinstance(event, ProcessOutput) and event.stream == "stderr" and not event.text.startswith("pie: ")
        if self._shows_errors or not is_error:
            self._display(event)

    async def forward_input(self, process: MessageSink) -> None:
        """Runs until the input ends."""
        await send_typed_lines(process)


class OutputFrontend(LineFrontend):
    """Forwards nothing: what is typed is for somebody else."""

    async def forward_input(self, process: MessageSink) -> None:
        """Returns at once."""
        await process.close_session()


@contextlib.asynccontextmanager
async def forwarding_input(frontend: Frontend, process: MessageSink) -> AsyncGenerator[None]:
    """Forward typed input to `process` while the block runs; then restore the terminal."""
    typing = asyncio.create_task(frontend.forward_input(process))
    try:
        yield
    finally:
        typing.cancel()
        await asyncio.gather(typing, return_exceptions=True)
