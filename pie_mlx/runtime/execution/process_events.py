"""The events of a running program, carried in order to the loop that launched it."""

import asyncio
import contextvars
import json
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from pie_mlx.events import Event, ProcessEvent, ProcessFile, ProcessMessage, ProcessOutput
from pie_mlx.runtime.execution.output_capture import StreamName
from pie_mlx.wire_text import clean_text


@dataclass(frozen=True, slots=True)
class LaunchCallbacks:
    """Passes an event of a process to the callbacks of its launch; `on_engine_event` gets those of all processes,
    `on_child_event` those of a child, for the process that launched it."""

    on_message: Callable[[Any], None] | None = None
    on_file: Callable[[bytes, str], None] | None = None
    on_event: Callable[[ProcessEvent], None] | None = None
    on_engine_event: Callable[[Event], None] | None = None
    on_child_event: Callable[[ProcessEvent], None] | None = None

    def __call__(self, event: ProcessEvent, data: bytes) -> None:
        if self.on_engine_event is not None:
            self.on_engine_event(event)
        if self.on_event is not None:
            self.on_event(event)
        if self.on_child_event is not None:
            self.on_child_event(event)
        match event:
            case ProcessMessage(text=text, format=format) if self.on_message is not None:
                self.on_message(json.loads(text) if format == "json" else text)
            case ProcessFile(name=name) if self.on_file is not None:
                self.on_file(data, name)
            case _:
                pass


FLUSH_SECONDS = 0.02
"""How long an unfinished line of output may wait for its end."""

TURN_SECONDS = 2e-3
"""Of the loop, for what a process has posted; what else the loop has to do comes before the rest."""

JOINED_CHARACTERS = 64 << 10
"""Writes to one stream that wait are observed as one, up to this length."""

Observe = Callable[[ProcessEvent, bytes], None]
"""Called with an event and, for a file, its contents."""

_Posted = Callable[[], None] | tuple[StreamName, str]
"""Something to do, or output."""


class ProcessEventQueue:
    """Carries events, in order, from any thread to `observe`, which is called on `loop` only, until `close`.

    `process` is set before the first post. An exception of `observe` closes the queue and goes to `on_failure`. A
    program may post thousands of events at once: they are observed in turns with what else the loop has to do.
    """

    def __init__(
        self, loop: asyncio.AbstractEventLoop, observe: Observe, clock: Callable[[], float] = time.perf_counter
    ) -> None:
        self.process = ""
        self.on_failure: Callable[[Exception], None] | None = None
        self._loop = loop
        self._context = contextvars.copy_context()
        self._observe = observe
        self._clock = clock
        self._posted: deque[_Posted] = deque()
        self._has_turn = False
        """Whether the loop will look at what was posted."""
        self._unfinished: dict[StreamName, str] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._closed = False
        self._held = False
        self._waiting: list[Callable[[], None]] = []

    def message(self, text: str, format: str) -> None:
        kind = "json" if format == "json" else "text"
        self._post(partial(self._deliver, ProcessMessage(self.process, clean_text(text), kind)))

    def file(self, data: bytes, name: str) -> None:
        self._post(partial(self._deliver, ProcessFile(self.process, clean_text(name), len(data)), data))

    def write(self, stream: StreamName, text: str) -> None:
        self._post((stream, clean_text(text)))

    def after_delivery(self, then: Callable[[], None]) -> None:
        """Call `then` on the loop once everything posted so far has been observed and the queue is not held."""
        self._post(partial(self._resume_reading, then))

    @property
    def is_held(self) -> bool:
        """Whether output was read up to a callback that waits for `resume`: until then nothing more comes."""
        return bool(self._waiting) and not self._unfinished

    def hold(self) -> None:
        """The observer is busy: delay the callbacks of `after_delivery` until `resume`. On the loop only."""
        self._held = True

    def resume(self) -> None:
        """On the loop only."""
        self._held = False
        waiting, self._waiting = self._waiting, []
        for then in waiting:
            then()

    def deliver(self, event: ProcessEvent, data: bytes = b"") -> None:
        """Observe an event after all that was posted before it. On the loop only."""
        self._take_all()
        self._deliver(event, data)

    def close(self) -> None:
        """Observe what is left; drop later events. On the loop only."""
        self._take_all()
        self._flush()
        self._closed = True

    def _deliver(self, event: ProcessEvent, data: bytes = b"") -> None:
        if not self._closed:
            self._flush()
            self._hand(event, data)

    def _resume_reading(self, then: Callable[[], None]) -> None:
        if self._held:
            self._waiting.append(then)
        else:
            then()

    def _post(self, posted: _Posted) -> None:
        if not self._loop.is_closed():
            self._posted.append(posted)
            if not self._has_turn:
                self._has_turn = True
                self._call(self._loop.call_soon_threadsafe)

    def _call(self, call_soon: Callable[..., object]) -> None:
        # Not in the program's context: what an observer prints must not be captured as the program's output.
        call_soon(self._take_turn, context=self._context)

    def _take_turn(self) -> None:
        self._has_turn = False  # first: what is posted from here on asks for a turn of its own
        ends = self._clock() + TURN_SECONDS
        try:
            while self._posted:
                self._take_next()
                if self._clock() >= ends:
                    break
        finally:
            if self._posted and not self._has_turn:
                self._has_turn = True
                self._call(self._loop.call_soon)

    def _take_all(self) -> None:
        while self._posted:
            self._take_next()

    def _take_next(self) -> None:
        posted = self._posted.popleft()
        if callable(posted):
            posted()
            return
        stream, text = posted
        texts, size = [text], len(text)
        while size < JOINED_CHARACTERS and self._posted and not callable(more := self._posted[0]) and more[0] == stream:
            self._posted.popleft()
            texts.append(more[1])
            size += len(more[1])
        self._gather(stream, "".join(texts))

    def _gather(self, stream: StreamName, text: str) -> None:
        if self._closed:
            return
        lines, newline, rest = (self._unfinished.pop(stream, "") + text).rpartition("\n")
        if newline:
            self._flush()
            self._hand(ProcessOutput(self.process, stream, lines + newline))
        if rest:
            self._unfinished[stream] = rest
            self._timer = self._timer or self._loop.call_later(FLUSH_SECONDS, self._flush)

    def _flush(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        unfinished, self._unfinished = self._unfinished, {}
        for stream, text in unfinished.items():
            self._hand(ProcessOutput(self.process, stream, text))

    def _hand(self, event: ProcessEvent, data: bytes = b"") -> None:
        try:
            self._observe(event, data)
        except Exception as error:
            self._closed = True
            if self.on_failure is None:
                raise
            self.on_failure(error)
