"""The main file of a program that is a WebAssembly component."""

from pathlib import Path

from pie_mlx.errors import LaunchError

SUFFIX = ".wasm"
NAME = "main.wasm"
LIMIT_BYTES = 64 << 20
_MAGIC, _MODULE, _COMPONENT = b"\0asm", b"\1\0\0\0", b"\x0d\0\1\0"


def read_component(file: Path) -> str:
    """A component has no text, so "". Raises LaunchError for what is none."""
    try:
        with open(file, "rb") as opened:
            check_beginning(opened.read(8), str(file))
            size_bytes = opened.seek(0, 2)
    except OSError as error:
        raise LaunchError(f"{file}: {error.strerror}", hint="check the path") from None
    check_size(size_bytes, str(file))
    return ""


def check_component(text: str, file: Path, entry: str) -> None:
    """Nothing can be said before it is compiled."""


def check_beginning(data: bytes, where: str) -> None:
    """Raises LaunchError unless the first eight bytes are those of a component."""
    if data[4:8] == _MODULE and data.startswith(_MAGIC):
        raise LaunchError(
            f"{where}: a core module of WebAssembly, not a component",
            hint="build it for wasm32-wasip2, not wasm32-wasip1",
        )
    if not data.startswith(_MAGIC):
        raise LaunchError(f"{where}: not WebAssembly", hint="build it for wasm32-wasip2; text (.wat) must be compiled")
    if data[4:8] != _COMPONENT:
        raise LaunchError(
            f"{where}: a component in another format", hint="build it with current tools for wasm32-wasip2"
        )


def check_size(size_bytes: int, where: str) -> None:
    """Raises LaunchError for a component that is too large to compile."""
    if size_bytes > LIMIT_BYTES:
        raise LaunchError(
            f"{where}: {size_bytes >> 20} MiB, the limit for components is {LIMIT_BYTES >> 20} MiB",
            hint="build it with optimisation and without debug information",
        )
