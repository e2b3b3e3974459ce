"""The words of every `--json`: `process`, `user`, `state`, and ISO times with their zone in keys that end in `at`.

Words of earlier versions stay beside them for one version.
"""

import time
from collections.abc import Mapping
from typing import Any

_OLD_SECONDS = "started_at_secs"


def iso_time(seconds: float) -> str:
    """Unix time as text, in UTC."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def process_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """A process as engines list it; `id`, `username` and the number of seconds are the earlier words."""
    words = {"process": row["id"], "user": row["username"], **row}
    return words | {"started_at": iso_time(row["started_at"]), _OLD_SECONDS: row["started_at"]}


def log_row(log: Mapping[str, Any]) -> dict[str, Any]:
    """A recorded process; `username` and the number of seconds are the earlier words."""
    words = {"process": log["process"], "user": log["username"], **log}
    return words | {"started_at": iso_time(log["started_at"]), _OLD_SECONDS: log["started_at"]}


def log_line(line: Mapping[str, Any]) -> dict[str, Any]:
    """An event of a log; `time` in seconds is the earlier word."""
    return {**line, "at": iso_time(line["time"])}
