"""How Node is started: its command line, its environment, and what it must be able to read."""

import functools
import glob
import os
from pathlib import Path

import pie_mlx
from pie_mlx.runtime.javascript.node import Node
from pie_mlx.runtime.sandbox.interpreter import system_paths

JAVASCRIPT = Path(pie_mlx.__file__).resolve().parent / "javascript"
_WORKER = JAVASCRIPT / "worker" / "start.mjs"
_OTHER_FILES = ("/usr/share/nodejs", "/usr/share/node_modules", "/usr/share/icu")
"""Where systems keep parts of their own Node."""
_DEFAULT_HEAP_MB = 2048


def node_command(node: Node, max_memory_bytes: int | None) -> list[str]:
    """The command line of a worker. The permissions give clear errors; the sandbox is what holds."""
    heap_mb = _DEFAULT_HEAP_MB if max_memory_bytes is None else max(16, max_memory_bytes >> 20)
    return [
        node.path,
        f"--max-old-space-size={heap_mb}",
        "--permission",
        "--allow-fs-read=*",
        "--allow-fs-write=*",
        *(["--allow-net"] if int(node.version.partition(".")[0]) >= 25 else []),
        "--no-addons",
        str(_WORKER),
    ]


def node_paths(node: Node) -> list[str]:
    """What any worker must be able to read."""
    return [str(JAVASCRIPT), *_OTHER_FILES, *system_paths([node.path])]


@functools.cache
def loaders() -> tuple[str, ...]:
    """The dynamic loaders of this system, which execute with every program."""
    found = (path for pattern in ("/lib64/ld-*.so*", "/lib/ld-*.so*") for path in glob.glob(pattern))
    return tuple(dict.fromkeys(map(os.path.realpath, found)))
