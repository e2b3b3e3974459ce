"""What the interpreter of a replay is given."""

import struct

import msgspec

LENGTH = struct.Struct("<I")
"""Before each of its results."""


class Job(msgspec.Struct, frozen=True):
    """`program` replaces the source of the first recorded process; "" takes the one at its recorded path, or the
    recorded source where nothing is there. `workspace` is a directory for temporary
    files. `captures`: what programs print is part of the results."""

    recording: str
    program: str
    home: str
    workspace: str
    sandbox: str
    max_memory_bytes: int | None
    max_open_files: int | None
    captures: bool = False
