"""The last processes: kinds, times and sizes of their output, never its contents."""

import time
from pathlib import Path
from typing import Any

from pie_mlx.runtime.registry import OutputLogs

PROCESSES, LINES = 5, 20


def last_processes(folder: Path) -> list[dict[str, Any]]:
    """The processes whose logs in `folder` were written last. Raises OSError."""
    if not folder.is_dir():
        return []
    logs = OutputLogs(folder, time.time)
    heads = logs.newest("", None, PROCESSES)
    return [
        {"program": head.program, "started_at": head.started_at, "lines": _last_lines(logs, head.process)}
        for head in heads
    ]


def _last_lines(logs: OutputLogs, process: str) -> list[dict[str, Any]]:
    lines, after = logs.read(process)[:0], 0
    while found := logs.read(process, after=after):
        lines, after = [*lines, *found][-LINES:], found[-1].sequence
    return [
        {
            "event": line.event,
            "time": line.time,
            "format": line.format,
            "error_type": line.error_type,
            "size_bytes": line.size_bytes or len(line.value.encode()),
        }
        for line in lines
    ]
