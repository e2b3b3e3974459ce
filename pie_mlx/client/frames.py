"""The frames of the wire, as a client sends and receives them."""

import re
from typing import Any

import msgspec

from pie_mlx.errors import InvalidArgumentError, ProtocolError

CHUNK_BYTES = 256 << 10


def _wire_name(class_name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", class_name).lower()


class ServerFrame(msgspec.Struct, frozen=True, tag=_wire_name, tag_field="type"):
    """A frame of the server; unknown keys are ignored."""


class Response(ServerFrame, frozen=True):
    """`code` and `hint` are set when it is not ok and the server is pie-mlx."""

    corr_id: int
    ok: bool
    result: str
    code: str = ""
    hint: str = ""


class ProcessEvent(ServerFrame, frozen=True):
    process_id: str
    event: str
    value: str
    format: str = "text"
    error_type: str = "Error"
    hint: str = ""


class File(ServerFrame, frozen=True):
    process_id: str
    file_hash: str
    chunk_index: int
    total_chunks: int
    chunk_data: bytes
    name: str = ""


class McpRequest(ServerFrame, frozen=True):
    corr_id: int
    process_id: str
    server_name: str
    method: str
    params: str


class EngineEvent(ServerFrame, frozen=True):
    """An event of the engine: `data` is its JSON, `time` Unix time. Kind `gap` carries the number of missed events."""

    sequence: int
    time: float
    kind: str
    data: str


AnyServerFrame = Response | ProcessEvent | File | McpRequest | EngineEvent

_decoder = msgspec.msgpack.Decoder(AnyServerFrame)
_encoder = msgspec.msgpack.Encoder()
_KNOWN = {str(kind.__struct_config__.tag) for kind in (Response, ProcessEvent, File, McpRequest, EngineEvent)}


class _Kind(msgspec.Struct):
    type: str


def encode(type: str, fields: dict[str, Any]) -> bytes:
    """A frame. Raises InvalidArgumentError for numbers and texts that a frame cannot hold."""
    try:
        return _encoder.encode({"type": type, **fields})
    except (OverflowError, UnicodeEncodeError) as error:
        raise InvalidArgumentError(f"{type}: {error}", hint="pass ints of 64 bits and Unicode text") from None


def decode(frame: bytes) -> AnyServerFrame | None:
    """A frame of the server; None for a kind this version does not know. Raises ProtocolError."""
    try:
        return _decoder.decode(frame)
    except msgspec.DecodeError as error:
        if _is_unknown(frame):
            return None
        raise ProtocolError(f"frame of the server: {error}", hint="is it a pie engine?") from None


def _is_unknown(frame: bytes) -> bool:
    try:
        return msgspec.msgpack.decode(frame, type=_Kind).type not in _KNOWN
    except msgspec.DecodeError:
        return False


def chunks(data: bytes) -> list[bytes]:
    """The chunks of a payload: an empty one is one empty chunk."""
    return [data[start : start + CHUNK_BYTES] for start in range(0, len(data), CHUNK_BYTES)] or [b""]
