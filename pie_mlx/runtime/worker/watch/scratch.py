"""Finds programs whose files exceed their quota."""

import contextlib
import os
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import partial

from pie_mlx.errors import ProcessError
from pie_mlx.runtime.file_tree import Quota, Usage, measure
from pie_mlx.runtime.process_memory import family
from pie_mlx.runtime.worker.executor import WorkerExecutor
from pie_mlx.runtime.worker.watch.deleted_files import deleted_files
from pie_mlx.runtime.worker.workspaces import scratch_quota

LOOK_SECONDS = 2.0
"""Time between checks, unless the disk fills quickly."""
TOLERANCE = 1.25
"""Open files may grow past the limit; a program ends beyond this multiple of it."""
LOOKS, PAUSE_SECONDS = 3, 0.05
"""Looks at files that cannot be measured before their program ends: it may be busy closing them."""
_FALL, _LEAST_FALL_BYTES = 0.25, 64 << 20
"""A drop in free space, as part of the limit and in bytes, that triggers a check at once."""


class ScratchWatch:
    """Checks the directories of running programs. Blocks: call `look` on one thread at a time, not on the loop's.

    `own_socket` is the inode of the fork server's socket: a worker that was just forked still has it, and descriptors
    for other workers may be on their way through it.
    """

    def __init__(
        self,
        limit_bytes: int,
        own_socket: Callable[[], int] = lambda: 0,
        clock: Callable[[], float] = time.monotonic,
        pause: Callable[[], None] = partial(time.sleep, PAUSE_SECONDS),  # noqa: B008 - it has no state
    ) -> None:
        self._limit_bytes = limit_bytes
        self._quota = scratch_quota(round(limit_bytes * TOLERANCE))
        self._own_socket, self._clock, self._pause = own_socket, clock, pause
        self._looked_seconds = clock()
        self._free_bytes = 0

    def look(self, executors: Sequence[WorkerExecutor]) -> dict[WorkerExecutor, ProcessError]:
        """The programs over their limit, with their errors. Empty while no check is due."""
        sharing: defaultdict[str, list[WorkerExecutor]] = defaultdict(list)
        for executor in executors:
            if executor.spec is not None:
                sharing[executor.spec.workspace].append(executor)
        if not sharing or not self._is_due(next(iter(sharing))):
            return {}
        return {
            executor: verdict
            for workspace, users in sharing.items()
            if (verdict := self._verdict(workspace, users)) is not None
            for executor in users
        }

    def _is_due(self, workspace: str) -> bool:
        now, free_bytes = self._clock(), _free_bytes(os.path.dirname(workspace))
        fallen_bytes = self._free_bytes - free_bytes
        few_bytes = max(self._limit_bytes * _FALL, _LEAST_FALL_BYTES)
        if now - self._looked_seconds < LOOK_SECONDS and fallen_bytes < few_bytes:
            self._free_bytes = max(self._free_bytes, free_bytes)
            return False
        self._looked_seconds, self._free_bytes = now, free_bytes
        return True

    def _verdict(self, workspace: str, users: Sequence[WorkerExecutor]) -> ProcessError | None:
        usage = self._usage(workspace, users)
        for _ in range(LOOKS - 1):
            if not usage.hidden:
                break
            self._pause()
            usage = self._usage(workspace, users)
        return None if self._quota.holds(usage) else _exceeded(usage, self._quota, self._limit_bytes)

    def _usage(self, workspace: str, users: Sequence[WorkerExecutor]) -> Usage:
        usage = Usage()
        with contextlib.suppress(OSError):  # this process has no descriptors left: try again next time
            usage = measure(workspace, self._quota)
            for user in users:
                for pid in family(user.process_id) if user.process_id is not None else ():
                    usage += deleted_files(pid, workspace, self._own_socket())
        return usage


def _exceeded(usage: Usage, quota: Quota, limit_bytes: int) -> ProcessError:
    if usage.hidden:
        return ProcessError(
            "Scratch limit: there are files that cannot be measured",
            hint="keep directories readable by their owner, and close deleted files; "
            "'pie remove --scratch' removes existing files",
        )
    if usage.size_bytes > quota.size_bytes:
        return ProcessError(
            f"Scratch limit of {limit_bytes >> 20} MiB exceeded",
            hint="delete what is not needed there, or raise [runtime] scratch_max_mb",
        )
    return ProcessError(
        f"Scratch limit of {scratch_quota(limit_bytes).entries} files exceeded",
        hint="delete what is not needed there, or raise [runtime] scratch_max_mb",
    )


def _free_bytes(directory: str) -> int:
    try:
        found = os.statvfs(directory)
    except OSError:
        return 0
    return found.f_bfree * found.f_frsize
