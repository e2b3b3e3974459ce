"""Python's own parser, when several threads want it."""

import contextlib
import gc
import threading
from collections.abc import Generator

_LOCK = threading.RLock()


@contextlib.contextmanager
def parsing() -> Generator[None]:
    """Around whatever has Python make a syntax tree.

    CPython up to 3.11.7 and 3.12.1 counts the depth of the trees of all threads together: one that is made while
    another is not finished fails it with a SystemError (python/cpython#106905). So one thread makes trees at a time,
    and nothing is collected meanwhile, as a finalizer that warns or fails has its own lines parsed.
    """
    with _LOCK:
        collects = gc.isenabled()
        gc.disable()
        try:
            yield
        finally:
            if collects:
                gc.enable()
