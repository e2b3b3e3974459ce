"""Adapter folders, read and written by the program: the engine opens no path that a program names."""

import os
from os import PathLike
from pathlib import Path

from inferlet._calls.host import HostLink
from pie_mlx.calls import AdapterState, LoadAdapter, ReadAdapter
from pie_mlx.errors import AdapterFormatError
from pie_mlx.files import SHARED, write_file

CONFIG = "adapter_config.json"
SAVED = "adapters.safetensors"
WEIGHTS = (SAVED, "adapter_model.safetensors")
PART_BYTES = 4 << 20


def read_folder(path: "str | PathLike[str]") -> tuple[str, bytes]:
    """The configuration and the weights. Raises OSError and AdapterFormatError."""
    with open(os.path.join(path, CONFIG), "rb") as file:
        config = file.read()
    found = [name for name in WEIGHTS if os.path.exists(os.path.join(path, name))]
    if len(found) != 1:
        raise AdapterFormatError(
            f"adapter: {os.fspath(path)} has {' and '.join(found) or 'no weights'}",
            hint=f"one of {' or '.join(WEIGHTS)} must be there; convert other files to safetensors",
        )
    with open(os.path.join(path, found[0]), "rb") as file:
        weights = file.read()
    try:
        return config.decode(), weights
    except UnicodeDecodeError as error:
        raise AdapterFormatError(f"adapter: {CONFIG} is not text", hint="copy the adapter again") from error


def write_folder(path: "str | PathLike[str]", config: str, weights: bytes) -> None:
    """Write both files, each whole or not at all. Raises OSError."""
    os.makedirs(path, exist_ok=True)
    write_file(Path(path, SAVED), weights, SHARED)
    write_file(Path(path, CONFIG), config.encode(), SHARED)


def send(host: HostLink, adapter: int, config: str, weights: bytes) -> AdapterState:
    """Upload weights in parts. Raises what the engine raises."""
    offsets = range(0, len(weights), PART_BYTES) or (0,)
    for offset in offsets:
        part = weights[offset : offset + PART_BYTES]
        state = host.call(LoadAdapter(adapter, config, len(weights), offset, part))
        if state is not None:
            return state
    raise AdapterFormatError("adapter: its weights are empty", hint="copy the adapter again")


def fetch(host: HostLink, adapter: int) -> tuple[str, bytes]:
    """The configuration and the weights as the engine has them."""
    part = host.call(ReadAdapter(adapter))
    weights = bytearray(part.data)
    while len(weights) < part.size_bytes:
        weights += host.call(ReadAdapter(adapter, len(weights))).data
    return part.config, bytes(weights)
