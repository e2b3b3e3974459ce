"""Compiles components in a confined process of limited memory and time: the compiler is not made for hostile input."""

import importlib.metadata
import importlib.util
import threading

import msgspec

from pie_mlx.errors import LaunchError
from pie_mlx.runtime.limited_python import output_of
from pie_mlx.wasm.facts import Facts

MEMORY_LIMIT_BYTES = 3 << 30
CPU_LIMIT_SECONDS = 120
PATIENCE_SECONDS = 180.0
"""Wall-clock limit, for a machine under load."""

_COMPILERS = threading.BoundedSemaphore(1)
BOOT = "from pie_mlx.runtime.worker.compiled.compiler import main; main()"


class Compiled(msgspec.Struct, frozen=True, tag="compiled"):
    """A component in compiled form."""

    facts: Facts
    code: bytes


class Refused(msgspec.Struct, frozen=True, tag="refused"):
    """A LaunchError."""

    message: str
    hint: str


def compile_component(wasm: bytes) -> Compiled:
    """Blocks for seconds if the component is large. Raises LaunchError."""
    with _COMPILERS:
        output = _run(wasm)
    answer = msgspec.msgpack.decode(output, type=Compiled | Refused)
    if isinstance(answer, Refused):
        raise LaunchError(answer.message, hint=answer.hint)
    return answer


def compiler_version() -> str:
    """The version of wasmtime. Raises LaunchError if it is not installed."""
    if importlib.util.find_spec("wasmtime") is None:
        raise LaunchError(
            "component: running WebAssembly needs wasmtime, which is not installed", hint="pip install 'pie-mlx[wasm]'"
        )
    return importlib.metadata.version("wasmtime")


def _run(wasm: bytes) -> bytes:
    try:
        output = output_of(BOOT, wasm, memory_bytes=MEMORY_LIMIT_BYTES, patience_seconds=PATIENCE_SECONDS)
    except OSError as error:
        raise LaunchError(f"component: its compiler does not start: {error.strerror}", hint="try again") from None
    if output is None:
        raise LaunchError(
            f"component: it cannot be compiled within {CPU_LIMIT_SECONDS} s and {MEMORY_LIMIT_BYTES >> 20} MiB",
            hint="build it with optimisation, and without what it does not need",
        )
    return output
