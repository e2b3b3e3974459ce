"""Python's own parser, used by one thread at a time."""

import contextlib
import gc
import threading
from collections.abc import Generator

_LOCK = threading.RLock()


@contextlib.contextmanager
def parsing() -> Generator[None]:
    """Wrap this around code that makes Python parse source.

    CPython up to 3.11.7 and 3.12.1 counts the depth of the trees of all threads together. Starting a tree while another
    is unfinished fails that one with a SystemError (python/cpython#106905). So one thread parses at a time. The
    collector is off meanwhile, because a finalizer that warns or fails makes Python parse its lines.
    """
    with _LOCK:
        collects = gc.isenabled()
        gc.disable()
        try:
            yield
        finally:
            if collects:
                gc.enable()
