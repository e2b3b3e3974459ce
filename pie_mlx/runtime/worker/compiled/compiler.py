"""The process that compiles a component, started by `compiling`."""

import os
import sys

import msgspec

from pie_mlx.errors import LaunchError
from pie_mlx.runtime.sandbox import Policy, confine
from pie_mlx.runtime.sandbox.capabilities import drop_capabilities
from pie_mlx.runtime.sandbox.interpreter import interpreter_paths
from pie_mlx.runtime.worker.compiled.compiling import CPU_LIMIT_SECONDS, MEMORY_LIMIT_BYTES, Compiled, Refused
from pie_mlx.runtime.worker.limits import limit_reader
from pie_mlx.wasm.body import compiled


def main() -> None:
    """Compile the component on standard input."""
    limit_reader(cpu_seconds=CPU_LIMIT_SECONDS, memory_bytes=MEMORY_LIMIT_BYTES)
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
