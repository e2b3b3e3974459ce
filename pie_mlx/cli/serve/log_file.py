"""The log of an engine that has no terminal, and never more than two files long."""

import contextlib
import os
from collections.abc import Sequence
from pathlib import Path

LOG_NAME, OLD_LOG_NAME = "serve.log", "serve.log.1"
MOST_BYTES = 8 << 20
APPENDING = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
_OUTPUTS = (1, 2)


def begin_anew_if_long(directory: Path, outputs: Sequence[int] = _OUTPUTS) -> None:
    """Go on in a new log once the one in `directory` is too long, which takes the place of the old one before it.

    `outputs` are the descriptors that may write there: those that write elsewhere stay as they are. A disk that refuses
    leaves all as it is.
    """
    log, fresh = directory / LOG_NAME, directory / f".{LOG_NAME}.new"
    with contextlib.suppress(OSError):
        full = os.fstat(outputs[-1])
        if full.st_size <= MOST_BYTES or not os.path.samestat(full, log.stat()):
            return
        descriptor = os.open(fresh, APPENDING | os.O_TRUNC, 0o600)
        try:
            log.replace(directory / OLD_LOG_NAME)
            fresh.replace(log)
            for output in outputs:
                if os.path.samestat(os.fstat(output), full):
                    os.dup2(descriptor, output)
        finally:
            os.close(descriptor)
