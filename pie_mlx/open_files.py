"""How many files this process may have open: every program and every connection of an engine needs a few."""

import contextlib
import inspect
import resource
import sys
from collections.abc import Generator
from typing import Any

WANTED = 10_240
"""The most that macOS grants."""
PLENTY = 4096
"""With fewer, an engine serves fewer clients than it could."""
LEAST = 64
"""With fewer, an engine cannot work."""


def raise_limit(wanted: int = WANTED) -> int:
    """Raise the soft limit towards `wanted`, as far as the system allows. Returns the new limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    goal = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < goal:
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (goal, hard))
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return sys.maxsize if soft == resource.RLIM_INFINITY else soft


@contextlib.contextmanager
def limit_kept() -> Generator[None]:
    """Keeps the limit while mlx-lm is imported: mlx-lm sets it to 2,048, never above 4,096, and fails where
    the system allows less."""
    original = resource.setrlimit

    def guarded(kind: int, limits: Any) -> None:
        if not inspect.stack(context=0)[1].frame.f_globals["__name__"].startswith("mlx_lm"):
            original(kind, limits)

    resource.setrlimit = guarded
    try:
        yield
    finally:
        resource.setrlimit = original
