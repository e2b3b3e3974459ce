"""What stands between a person and a program."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from typing import Protocol

from pie_mlx.cli.options import Common
from pie_mlx.cli.run.command import RunRequest
from pie_mlx.cli.run.display import display_for
from pie_mlx.cli.terminal.talking import Talking, talk
from pie_mlx.events import ProcessEvent, ProcessOutput


class Front(Protocol):
    """Shows what a process gives out, and brings it what is typed."""

    def show(self, event: ProcessEvent) -> None:
        """The next event, in order."""
        ...

    async def talk(self, process: Talking) -> None:
        """Until nothing more will be typed."""
        ...


def front_of(request: RunRequest, common: Common) -> Front:
    """A terminal that takes turns with the program, or lines that are typed at any time."""
    if not request.takes_turns:
        return Lines(common, tells_errors=common.json or common.debug or not request.ours)
    from pie_mlx.cli.run.conversation import Conversation

    return Conversation()


class Lines:
    """Every line is a message. What goes to standard error is shown only if this `tells_errors`."""

    def __init__(self, common: Common, *, tells_errors: bool = True) -> None:
        self._display = display_for(common)
        self._tells_errors = tells_errors

    def show(self, event: ProcessEvent) -> None:
        """The next event, in order."""
        if self._tells_errors or not (isinstance(event, ProcessOutput) and event.stream == "stderr"):
            self._display(event)

    async def talk(self, process: Talking) -> None:
        """Until nothing more will be typed."""
        await talk(process)


@contextlib.asynccontextmanager
async def talking(front: Front, process: Talking) -> AsyncGenerator[None]:
    """Bring `process` what is typed, as long as the block runs; after it the terminal is as it was."""
    typing = asyncio.create_task(front.talk(process))
    try:
        yield
    finally:
        typing.cancel()
        await asyncio.gather(typing, return_exceptions=True)
