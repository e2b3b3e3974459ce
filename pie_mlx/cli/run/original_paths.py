"""Replaces paths of an uploaded copy by the paths it was uploaded from."""

import re
from pathlib import Path
from typing import TypeVar

import msgspec

from pie_mlx.events import ProcessEvent, ProcessFailed, ProcessOutput

SomeEvent = TypeVar("SomeEvent", bound=ProcessEvent)


class OriginalPaths:
    """Maps paths inside the copy, a directory named `digest`, back to `path` in error texts of events."""

    def __init__(self, path: Path, digest: str) -> None:
        self._original = str(path.absolute())
        self._digest = digest
        # The directory above may have any name: a traceback puts it in quotation marks.
        copy = rf'(?:(?<=File ")[^"\n]{{0,1024}}|[^\s"(]{{0,1024}})/{digest}'
        self._copy = re.compile(copy if path.is_dir() else rf"{copy}/main{re.escape(path.suffix)}")

    def __call__(self, event: SomeEvent) -> SomeEvent:
        match event:
            case ProcessOutput(stream="stderr", text=text):
                return msgspec.structs.replace(event, text=self._named(text))
            case ProcessFailed(message=message):
                return msgspec.structs.replace(event, message=self._named(message))
            case _:
                return event

    def _named(self, text: str) -> str:
        return self._copy.sub(lambda found: self._original, text) if self._digest in text else text
