"""Python's own parser, when several threads want it."""

import threading

PARSING = threading.RLock()
"""Held by whoever has Python make a syntax tree. CPython up to 3.11.7 and 3.12.1 counts the depth of the trees of all
threads together: two that are made at once fail now and then with a SystemError (python/cpython#106905)."""
