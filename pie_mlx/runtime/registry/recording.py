"""Events of processes as lines of their logs."""

from pie_mlx.events import (
    ProcessEvent,
    ProcessFailed,
    ProcessFile,
    ProcessLaunched,
    ProcessMessage,
    ProcessOutput,
    ProcessReturned,
)
from pie_mlx.runtime.registry.output_log import OutputLog


def record(log: OutputLog, event: ProcessEvent) -> None:
    """Write an event to a process's log. Raises OSError."""
    match event:
        case ProcessOutput(stream=stream, text=text):
            log.write(stream, text)
        case ProcessMessage(text=text, format=format):
            log.write("message", text, format=format)
        case ProcessFile(name=name, size_bytes=size_bytes):
            log.write("file", name, size_bytes=size_bytes)
        case ProcessReturned(value=value, format=format):
            log.write("return", value, format=format)
        case ProcessFailed(message=message, error_type=error_type):
            log.write("error", message, error_type=error_type)
        case ProcessLaunched():
            pass
