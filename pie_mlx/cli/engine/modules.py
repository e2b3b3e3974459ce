"""Importing the modules of an engine."""

import gc
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def importing() -> Generator[None]:
    """Keeps the collector from walking what is imported, which never dies, again and again."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
