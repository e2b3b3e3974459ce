"""How the failure of a child reaches the process that launched it."""

from collections.abc import Callable
from dataclasses import dataclass

from pie_mlx.events import ProcessEvent, ProcessFailed, ProcessOutput, told_message

KEPT_CHARACTERS = 16_384
"""Characters kept of a child's standard error: its end, where the traceback is."""


@dataclass(slots=True)
class FailureReport:
    """Watches the events of a child. If it fails, `tell` gets a text with the end of its standard error, which has the
    traceback; one that is cancelled was ended on purpose."""

    identity: str
    tell: Callable[[str], None]
    _stderr: str = ""

    def __call__(self, event: ProcessEvent) -> None:
        match event:
            case ProcessOutput(stream="stderr", text=text):
                self._stderr = (self._stderr + text)[-KEPT_CHARACTERS:]
            case ProcessFailed(error_type=error_type, message=message) if error_type != "ProcessCancelledError":
                reason = f"{error_type}: {told_message(error_type, message)}"
                self.tell(f"{self._stderr}[pie] child '{self.identity}' ({event.process[:8]}) failed: {reason}\n")
            case _:
                pass
