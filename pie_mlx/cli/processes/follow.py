"""`pie attach`"""

import asyncio
import sys
from pathlib import Path

from pie_mlx.cli.engine.connection import full_id, with_client
from pie_mlx.cli.options import Common
from pie_mlx.cli.run.display import ReceivedFiles, display_for
from pie_mlx.cli.run.failures import report_failed
from pie_mlx.cli.run.remote import show_events
from pie_mlx.cli.terminal.errors import INTERRUPTED
from pie_mlx.cli.terminal.standard_input import typed_lines
from pie_mlx.client import Client, RemoteProcess
from pie_mlx.events import ProcessFailed, ProcessReturned


def attach(common: Common, process: str, files: Path | None) -> int:
    """Follow a process and return the exit code: that of the process, or 0 when it was left running."""
    if files is not None:
        files.mkdir(parents=True, exist_ok=True)

    async def work(client: Client) -> int:
        attached = await client.attach(await full_id(client, process))
        ended = await _Attachment(attached, common, ReceivedFiles(files)).follow()
        return _report(ended, attached, common)

    try:
        return with_client(common, work)
    except KeyboardInterrupt:
        return INTERRUPTED


class _Attachment:
    def __init__(self, process: RemoteProcess, common: Common, files: ReceivedFiles) -> None:
        self._process = process
        self._display = display_for(common)
        self._files = files

    async def follow(self) -> ProcessReturned | ProcessFailed | None:
        """The last event; None when the user left the process running. An interruption ends the process."""
        showing = asyncio.create_task(show_events(self._process, self._display, self._files))
        typing = asyncio.create_task(self._type())
        try:
            await asyncio.wait({showing, typing}, return_when=asyncio.FIRST_COMPLETED)
            if not showing.done() and sys.stdin.isatty():
                await self._process.detach()
                showing.cancel()
                return None
            return await showing
        except asyncio.CancelledError:
            await self._process.terminate()
            await showing
            raise
        finally:
            typing.cancel()

    async def _type(self) -> None:
        """Send typed lines until the input ends."""
        lines = typed_lines()
        while (line := await lines.get()) is not None:
            await self._process.send(line)


def _report(ended: ProcessReturned | ProcessFailed | None, process: RemoteProcess, common: Common) -> int:
    if ended is None:
        print(f"pie: left {process.id} running", file=sys.stderr)
        return 0
    if isinstance(ended, ProcessReturned):
        return 0
    return report_failed(f"process {process.id}", ended, common)
