"""The compiled form of a component: a file of machine code, and one that tells its digest and what to know of it."""

import mmap
from pathlib import Path

import msgspec
from blake3 import blake3

from pie_mlx.wasm.facts import Facts


class Record(msgspec.Struct, frozen=True):
    """What stands beside the machine code: the facts, and the digest of the code."""

    facts: Facts
    digest: str


def file_digest(file: Path) -> str:
    """The digest of a file, "" if it is empty. Raises OSError."""
    with open(file, "rb") as opened:
        try:
            with mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as content:
                return blake3(content).hexdigest()
        except ValueError:
            return ""
