"""Finds mistakes in the modules of a program, which a confined Node links and does not execute."""

import json
import os
import resource
import subprocess
from collections.abc import Sequence
from pathlib import Path

from pie_mlx.errors import LaunchError
from pie_mlx.runtime.javascript.command import JAVASCRIPT, loaders, node_paths
from pie_mlx.runtime.javascript.node import find_node
from pie_mlx.runtime.sandbox.capabilities import drop_capabilities
from pie_mlx.runtime.sandbox.confinement import confine
from pie_mlx.runtime.sandbox.interpreter import isolated_python
from pie_mlx.runtime.sandbox.policy import Policy

BOOT = "from pie_mlx.runtime.javascript.check import main; main(sys.argv[1:])"
CPU_LIMIT_SECONDS = 15
PATIENCE_SECONDS = 60.0
HEAP_MB = 512
_FLAGS = ("--experimental-vm-modules", f"--max-old-space-size={HEAP_MB}")


def javascript_findings(main_file: Path, directory: Path | None, entry: str) -> list[str]:
    """What is wrong. Raises LaunchError without a Node, and for modules that it cannot read within its limits."""
    find_node()
    home = (directory or main_file.parent).resolve()
    name = os.path.relpath(main_file.resolve(), home)
    readable = str(home) if directory else str(main_file.resolve())
    try:
        ended = subprocess.run(
            isolated_python(BOOT, readable, str(home), name, entry),
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=PATIENCE_SECONDS,
        )
        return json.loads(ended.stdout)
    except (OSError, ValueError, subprocess.TimeoutExpired):
        raise LaunchError(
            f"{main_file}: Node cannot read it within {CPU_LIMIT_SECONDS} s and {HEAP_MB} MiB",
            hint="keep data in files of its own",
        ) from None


def main(arguments: Sequence[str]) -> None:
    """`arguments`: what may be read, and those of check.mjs, which Node then executes in the walls."""
    readable, *words = arguments
    node = find_node()
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_LIMIT_SECONDS, CPU_LIMIT_SECONDS))
    drop_capabilities()
    confine(Policy((*node_paths(node), readable), (), executable=(node.path, *loaders())))
    command = [node.path, *_FLAGS, str(JAVASCRIPT / "worker" / "check.mjs"), *words]
    os.execve(command[0], command, {"OPENSSL_CONF": "/dev/null"})
