"""Where the examples play: an engine with pie-tiny on a thread of its own, its programs in processes of their own."""

import asyncio
import sys
import threading
from dataclasses import dataclass
from pathlib import Path

from pie_mlx import Engine
from pie_mlx.events import PassCompleted
from pie_mlx.runtime.mcp import McpServer
from pie_mlx.runtime.worker.settings import WorkerSettings

EXAMPLES = Path(__file__).parents[2] / "examples"
ALMANAC = McpServer("almanac", command=sys.executable, args=(str(EXAMPLES / "react-agent" / "almanac.py"),))


@dataclass(frozen=True)
class Played:
    """What a program sent and returned, and the engine's events meanwhile, those of its children included."""

    messages: list
    result: object
    events: list

    @property
    def text(self):
        """The messages that are text, as a terminal shows them."""
        return "".join(message for message in self.messages if isinstance(message, str))

    def of(self, kind):
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def input_tokens(self):
        """How many tokens went through passes, those whose pages were found in the cache included."""
        return sum(each.computed_tokens + each.attached_tokens for each in self.of(PassCompleted))


class Stage:
    """Plays one example after another; between `open` and `close`."""

    def __init__(self, scratch):
        self._engine = Engine(
            "pie-tiny",
            total_pages=1024,
            seed=42,
            isolation="process",
            snapshot_directory=str(scratch / "snapshots"),
            workers=WorkerSettings(scratch_directory=str(scratch)),
            mcp=[ALMANAC],
            on_event=self._note,
        )
        self._events = []
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def open(self):
        self._thread.start()
        self._wait(self._engine.__aenter__())
        return self

    def close(self):
        self._wait(self._engine.stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def play(self, name, input=None, *, says=(), **options):
        """Run an example to its end; `says` is what its client sends it. Raises what ended it."""
        return self._wait(self._play(EXAMPLES / name, input, says, options))

    async def _play(self, path, input, says, options):
        messages, self._events = [], []
        process = await self._engine.launch(path, input, on_message=messages.append, **options)
        for line in says:
            process.send(line)
        process.close_session()
        return Played(messages, await process.result(), self._events)

    def _note(self, event):
        self._events.append(event)

    def _wait(self, work):
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()
