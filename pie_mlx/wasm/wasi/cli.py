"""`wasi:cli`: the program's output, its variables and its end. It has no arguments, input or terminal."""

import codecs
import os
import sys

from pie_mlx.wasm.offers import Interface
from pie_mlx.wasm.wasi.streams import InputStream, OutputStream

_PROXY_VARIABLES = frozenset({"HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "NO_PROXY", "no_proxy"})
"""How this process reaches its proxy: a component reaches it through `wasi:http`."""


class TerminalInput:
    """No component has one."""


class TerminalOutput:
    """No component has one."""


def get_environment() -> list[tuple[str, str]]:
    return [(name, value) for name, value in os.environ.items() if name not in _PROXY_VARIABLES]


def get_arguments() -> list[str]:
    return []


def initial_cwd() -> str | None:
    return "/scratch"


def get_stdin() -> InputStream:
    return InputStream(_nothing)


def get_stdout() -> OutputStream:
    return _text_stream("stdout")


def get_stderr() -> OutputStream:
    return _text_stream("stderr")


def get_terminal_stdin() -> TerminalInput | None:
    return None


def get_terminal_stdout() -> TerminalOutput | None:
    return None


def get_terminal_stderr() -> TerminalOutput | None:
    return None


def exit(status: tuple[bool, None]) -> None:
    """Ends the program: an error status fails it."""
    raise SystemExit(0 if status[0] else 1)


def exit_with_code(status: int) -> None:
    raise SystemExit(status)


def _nothing(size: int) -> bytes | None:
    return None


def _text_stream(name: str) -> OutputStream:
    """Whole characters go to the stream of that name as it is when they are written."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def write(data: bytes) -> None:
        getattr(sys, name).write(decoder.decode(data))

    def flush() -> None:
        getattr(sys, name).flush()

    return OutputStream(write, flush)


INTERFACES = (
    Interface("wasi:cli/environment", (get_environment, get_arguments, initial_cwd)),
    Interface("wasi:cli/exit", (exit, exit_with_code)),
    Interface("wasi:cli/stdin", (get_stdin,)),
    Interface("wasi:cli/stdout", (get_stdout,)),
    Interface("wasi:cli/stderr", (get_stderr,)),
    Interface("wasi:cli/terminal-input", (), (TerminalInput,)),
    Interface("wasi:cli/terminal-output", (), (TerminalOutput,)),
    Interface("wasi:cli/terminal-stdin", (get_terminal_stdin,)),
    Interface("wasi:cli/terminal-stdout", (get_terminal_stdout,)),
    Interface("wasi:cli/terminal-stderr", (get_terminal_stderr,)),
)
