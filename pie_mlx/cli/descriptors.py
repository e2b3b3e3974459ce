"""How many files this process may have open: every process and every connection of an engine needs a few."""

import contextlib
import resource

WANTED = 10_240
"""As much as macOS gives whoever asks for all there is."""


def raise_descriptor_limit(wanted: int = WANTED) -> int:
    """Raise the soft limit towards `wanted`, as far as the system lets us; answers what it is now."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    goal = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < goal:
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (goal, hard))
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]
