"""Crash reports of macOS that involve MLX."""

import heapq
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pie_mlx.documents import json_object, read_limited
from pie_mlx.errors import InvalidArgumentError

KEPT, LOOKED_AT, FRAMES = 3, 30, 24
LIMIT_BYTES = 8 << 20
_HEAD = ("timestamp", "os_version")
_BODY = ("exception", "termination", "asi")


def crashes(folder: Path) -> list[dict[str, Any]]:
    """The newest crashes of Python processes with MLX loaded: time, cause, and the frames of the crashed thread.

    `folder` is ~/Library/Logs/DiagnosticReports, which exists only on macOS.
    """
    files = (file for file in folder.glob("*.ips") if file.name.lower().startswith(("python", "pie")))
    newest = heapq.nlargest(LOOKED_AT, files, key=lambda file: file.lstat().st_mtime)
    found = (_crash(file) for file in newest)
    return [crash for crash in found if crash][:KEPT]


def _crash(file: Path) -> dict[str, Any]:
    """Empty for other files, and for crashes without MLX."""
    try:
        first, _, rest = read_limited(file, LIMIT_BYTES).partition(b"\n")
        head, body = json_object(first), json_object(rest)
        images = [str(image.get("name", "?")) for image in body["usedImages"]]
        if not any("mlx" in image for image in images):
            return {}
        frames = body["threads"][int(body["faultingThread"])]["frames"][:FRAMES]
        described = [_frame(frame, images) for frame in frames]
        return {**_chosen(head, _HEAD), **_chosen(body, _BODY), "frames": described}
    except (OSError, InvalidArgumentError, LookupError, TypeError, ValueError, AttributeError):
        return {}


def _frame(frame: Mapping[str, Any], images: list[str]) -> str:
    return f"{images[int(frame['imageIndex'])]} {frame.get('symbol') or frame.get('imageOffset')}"


def _chosen(values: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: values[name] for name in names if name in values}
