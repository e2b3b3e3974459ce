"""The process that compiles a component, started by `compiling`."""

import os
import resource
import sys

import msgspec

from pie_mlx.errors import LaunchError
from pie_mlx.runtime.sandbox import Policy, confine
from pie_mlx.runtime.sandbox.capabilities import drop_capabilities
from pie_mlx.runtime.sandbox.interpreter import interpreter_paths
from pie_mlx.runtime.worker.compiled.compiling import CPU_LIMIT_SECONDS, MEMORY_LIMIT_BYTES, Compiled, Refused
from pie_mlx.runtime.worker.limits import bound
from pie_mlx.wasm.body import compiled

_NICENESS = 10
"""Running programs have priority."""


def main() -> None:
    """Compile the component on standard input."""
    os.nice(_NICENESS)
    bound(resource.RLIMIT_CORE, 0, 0)
    bound(resource.RLIMIT_CPU, CPU_LIMIT_SECONDS, CPU_LIMIT_SECONDS + 1)
    if sys.platform == "linux":
        bound(resource.RLIMIT_DATA, MEMORY_LIMIT_BYTES, MEMORY_LIMIT_BYTES)
    drop_capabilities()
    confine(Policy(interpreter_paths(), compiles=True))
    sys.stdout.buffer.write(msgspec.msgpack.encode(_answer(sys.stdin.buffer.read())))
    sys.stdout.buffer.flush()
    os._exit(0)


def _answer(wasm: bytes) -> Compiled | Refused:
    try:
        facts, code = compiled(wasm)
    except LaunchError as error:
        return Refused(error.message, error.hint)
    return Compiled(facts, code)
