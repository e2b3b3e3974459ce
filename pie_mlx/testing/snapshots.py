"""Snapshots of transcripts: texts beside the tests, compared line by line."""

import difflib
from pathlib import Path

from pie_mlx.files import safe_name

FOLDER = "__snapshots__"


def check_snapshot(folder: Path, name: str, text: str, *, update: bool) -> None:
    """Compare with the snapshot, which is written where there is none, or with `update`. Raises AssertionError."""
    path = folder / FOLDER / f"{safe_name(name)}.txt"
    text = text.rstrip("\n") + "\n"
    if update or not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return
    kept = path.read_text(encoding="utf-8")
    if kept != text:
        diff = difflib.unified_diff(kept.splitlines(), text.splitlines(), "snapshot", "this run", lineterm="")
        raise AssertionError("\n".join([f"{path.name} differs (--pie-update keeps this run):", *diff]))
