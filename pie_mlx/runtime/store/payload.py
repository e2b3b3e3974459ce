"""The kind of an uploaded program, by its first bytes, and its digest."""

from typing import Literal

from blake3 import blake3

from pie_mlx.errors import LaunchError

Kind = Literal["package", "module"]
"""A zip of a program's directory, or the text of one Python module."""

_ZIP, _WASM = b"PK\x03\x04", b"\0asm"


def kind_of(payload: bytes) -> Kind:
    """Raises LaunchError for a program this engine cannot run."""
    if payload.startswith(_ZIP):
        return "package"
    if payload.startswith(_WASM):
        raise LaunchError("WebAssembly components are not supported by this engine", hint="write the program in Python")
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


def digest(data: bytes) -> str:
    """blake3 of `data`: 32 bytes as lower-case hex."""
    return blake3(data).hexdigest()


def manifest_digest(text: str) -> str:
    """The digest of a manifest, exactly as its text arrived."""
    return digest(text.encode())
