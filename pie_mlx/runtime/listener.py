"""The callbacks of a launch."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pie_mlx.events import Event, ProcessEvent, ProcessFile, ProcessMessage


@dataclass(frozen=True, slots=True)
class Listener:
    """Hands an event of a process to whoever asked for it; `on_engine_event` hears all processes."""

    on_message: Callable[[Any], None] | None = None
    on_file: Callable[[bytes, str], None] | None = None
    on_event: Callable[[ProcessEvent], None] | None = None
    on_engine_event: Callable[[Event], None] | None = None

    def __call__(self, event: ProcessEvent, data: bytes) -> None:
        if self.on_engine_event is not None:
            self.on_engine_event(event)
        if self.on_event is not None:
            self.on_event(event)
        match event:
            case ProcessMessage(text=text, format=format) if self.on_message is not None:
                self.on_message(json.loads(text) if format == "json" else text)
            case ProcessFile(name=name) if self.on_file is not None:
                self.on_file(data, name)
            case _:
                pass
