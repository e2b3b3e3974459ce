"""The kind of an uploaded program, by its first bytes, and its digest."""

from typing import Literal

from blake3 import blake3

from pie_mlx.errors import LaunchError
from pie_mlx.runtime.program.component_source import NAME as COMPONENT
from pie_mlx.runtime.program.component_source import check_beginning, check_size
from pie_mlx.runtime.program.language import PYTHON

Kind = Literal["package", "module", "component"]
"""A zip of a program's directory, the text of one Python module, or a WebAssembly component."""

_ZIP, _WASM = b"PK\x03\x04", b"\0asm"


def kind_of(payload: bytes) -> Kind:
    """Raises LaunchError for a program this engine cannot run."""
    if payload.startswith(_ZIP):
        return "package"
    if payload.startswith(_WASM):
        check_beginning(payload[:8], "program")
        check_size(len(payload), "program")
        return "component"
    if _is_text(payload):
        return "module"
    raise LaunchError(
        "unrecognised program: expected Python source, a .pie package or a WebAssembly component",
        hint="make a package of a directory with 'pie build'",
    )


def _is_text(payload: bytes) -> bool:
    if b"\0" in payload:
        return False
    try:
        payload.decode()
    except UnicodeDecodeError:
        return False
    return True


def main_name(kind: Kind) -> str:
    """The name of the main file that a payload of one file is."""
    return COMPONENT if kind == "component" else PYTHON.main_names[0]


def digest(data: bytes) -> str:
    """blake3 of `data`: 32 bytes as lower-case hex."""
    return blake3(data).hexdigest()


def manifest_digest(text: str) -> str:
    """The digest of a manifest, exactly as its text arrived."""
    return digest(text.encode())
