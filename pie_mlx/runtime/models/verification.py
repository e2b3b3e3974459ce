"""Whether the files of a model are what was downloaded: caches name them by a digest of their bytes."""

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_CHUNK_BYTES = 1 << 24


def verified_files(path: Path) -> Iterator[tuple[Path, bool | None]]:
    """Each file of a model in a cache and whether its bytes are those of its name; None if its name is no digest."""
    for file in sorted(path.iterdir()) if path.is_dir() else [path]:
        if file.is_file():
            yield file, _holds(file.resolve())


def _holds(blob: Path) -> bool | None:
    """Large files are named by SHA-256 (Ollama says so in the name), small ones as git names them."""
    name = blob.name.removeprefix("sha256-")
    if re.fullmatch(r"[0-9a-f]{64}", name):
        return _digest(blob, hashlib.sha256()) == name
    if re.fullmatch(r"[0-9a-f]{40}", name):
        return _digest(blob, hashlib.sha1(f"blob {blob.stat().st_size}\0".encode(), usedforsecurity=False)) == name
    return None


def _digest(blob: Path, digest: Any) -> str:
    with blob.open("rb") as file:
        while data := file.read(_CHUNK_BYTES):
            digest.update(data)
    return digest.hexdigest()
