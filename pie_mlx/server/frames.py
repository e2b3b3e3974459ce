"""The frames of the wire: one msgpack map each, told apart by `type`."""

import re
from typing import Annotated, Any, Literal, cast

import msgspec
from msgspec import Meta

from pie_mlx.errors import ProtocolError
from pie_mlx.msgpack_count import Counts, count
from pie_mlx.server import nesting
from pie_mlx.wire_text import clean_text

VALUE_LIMIT_BYTES = 1_000_000
"""UTF-8 of one value; clients refuse frames above 1 MiB."""
CHUNK_LIMIT_BYTES = 1 << 20
CHUNKS_LIMIT = 65_536
COUNTED_BYTES = 4 << 10
"""The values of longer frames are counted before they are decoded."""
COUNTS_LIMIT = Counts(values=65_536, containers=4_096)

CorrelationId = Annotated[int, Meta(ge=0, le=0xFFFF_FFFF)]
Index = Annotated[int, Meta(ge=0, le=CHUNKS_LIMIT)]
Total = Annotated[int, Meta(ge=1, le=CHUNKS_LIMIT)]
Chunk = Annotated[bytes, Meta(max_length=CHUNK_LIMIT_BYTES)]


def _wire_name(class_name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", class_name).lower()


class Frame(msgspec.Struct, frozen=True, tag=_wire_name, tag_field="type"):
    """A frame of a client."""


class Request(Frame, frozen=True, kw_only=True):
    """A frame that is answered by one response."""

    corr_id: CorrelationId


class AuthIdentify(Request, frozen=True):
    username: str


class AuthEngine(Request, frozen=True):
    """Asks for the engine's key, and for its signature of a nonce (base64)."""

    nonce: str


class AuthProve(Request, frozen=True):
    signature: str


class AuthByToken(Request, frozen=True):
    token: str
    username: str | None = None


class Ping(Request, frozen=True):
    pass


class Query(Request, frozen=True):
    subject: str
    record: str = ""


class ListProcesses(Request, frozen=True):
    pass


class CheckProgram(Request, frozen=True):
    name: str
    version: str
    wasm_hash: str | None = None
    manifest_hash: str | None = None


class AddProgram(Request, frozen=True):
    """One that is not to be kept is not installed: this connection alone can launch it, by name and version."""

    program_hash: str
    manifest: str
    force_overwrite: bool
    chunk_index: Index
    total_chunks: Total
    chunk_data: Chunk
    keep: bool = True


class RemoveProgram(Request, frozen=True):
    name: str
    version: str


class LaunchProcess(Request, frozen=True):
    inferlet: str
    input: str
    capture_outputs: bool = True
    token_budget: int | None = None


class LaunchProcesses(Request, frozen=True):
    inferlet: str
    inputs: list[str]
    capture_outputs: bool = True
    token_budgets: list[int | None] | None = None


class RunProcesses(Request, frozen=True):
    inferlet: str
    inputs: list[str]
    token_budgets: list[int | None] | None = None


class LaunchDaemon(Request, frozen=True):
    port: int
    inferlet: str
    input: str


class AttachProcess(Request, frozen=True):
    process_id: str


class DetachProcess(Request, frozen=True):
    process_id: str


class TerminateProcess(Request, frozen=True):
    process_id: str


class SetBid(Request, frozen=True):
    process_id: str
    bid: float


class SuspendProcess(Request, frozen=True):
    process_id: str


class RegisterMcpServer(Request, frozen=True):
    name: str
    transport: str
    command: str | None = None
    args: list[str] | None = None
    url: str | None = None


class WatchEvents(Request, frozen=True):
    since: int | None = None
    kinds: list[str] | None = None


class UnwatchEvents(Request, frozen=True):
    pass


class SubmitWorkflow(Request, frozen=True):
    pass


class CancelWorkflow(Request, frozen=True):
    pass


class AttachWorkflow(Request, frozen=True):
    pass


class DetachWorkflow(Request, frozen=True):
    pass


class SignalProcess(Frame, frozen=True):
    process_id: str
    message: str


class CloseSession(Frame, frozen=True):
    """The client will send the process nothing more."""

    process_id: str


class TransferFile(Frame, frozen=True):
    process_id: str
    file_hash: str
    chunk_index: Index
    total_chunks: Total
    chunk_data: Chunk


class McpResponse(Frame, frozen=True):
    corr_id: CorrelationId
    ok: bool
    result: str


AnyFrame = (
    AuthIdentify
    | AuthProve
    | AuthByToken
    | AuthEngine
    | Ping
    | Query
    | ListProcesses
    | CheckProgram
    | AddProgram
    | RemoveProgram
    | LaunchProcess
    | LaunchProcesses
    | RunProcesses
    | LaunchDaemon
    | AttachProcess
    | DetachProcess
    | TerminateProcess
    | SetBid
    | SuspendProcess
    | RegisterMcpServer
    | WatchEvents
    | UnwatchEvents
    | SubmitWorkflow
    | CancelWorkflow
    | AttachWorkflow
    | DetachWorkflow
    | SignalProcess
    | CloseSession
    | TransferFile
    | McpResponse
)


class Unfit(msgspec.Struct, frozen=True):
    """A frame that means nothing but can be answered: its `corr_id` could be read."""

    corr_id: int
    reason: str


class _Envelope(msgspec.Struct):
    type: str
    corr_id: CorrelationId | None = None


_frames = msgspec.msgpack.Decoder(AnyFrame)
_fields = msgspec.msgpack.Decoder(dict[str, msgspec.Raw])
_envelopes = msgspec.msgpack.Decoder(_Envelope)
_encoder = msgspec.msgpack.Encoder()
_TYPES = frozenset(str(kind.__struct_config__.tag) for kind in cast("Any", AnyFrame).__args__)
_PLACE = re.compile(r"^(?P<reason>.*?)(?: - at `\$\.?(?P<field>[^`]*)`)?$", re.DOTALL)


def decode(frame: bytes) -> AnyFrame | Unfit:
    """Raises ProtocolError for what cannot even be answered."""
    if len(frame) > COUNTED_BYTES and not count(frame, COUNTS_LIMIT).within(COUNTS_LIMIT):
        raise ProtocolError(
            f"frame: more than {COUNTS_LIMIT.values} values or {COUNTS_LIMIT.containers} lists and maps",
            hint="send less at a time",
        )
    try:
        found = _frames.decode(frame)
        return _unread_problem(found, frame) or found
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        return _unfit(frame, error)


def _unread_problem(found: AnyFrame, frame: bytes) -> Unfit | None:
    """The fields that are read are flat; the others must be so within bounds. Raises ProtocolError without corr_id."""
    for name, value in _fields.decode(frame).items():
        if name in found.__struct_fields__ or name == "type":
            continue
        if why := nesting.problem(bytes(value)):
            reason = f"Invalid message '{found.__struct_config__.tag}': {name[:64]}: {why}"
            number = getattr(found, "corr_id", None)
            if number is None:
                raise ProtocolError(f"{reason}, and no corr_id to answer to")
            return Unfit(number, reason)
    return None


def _unfit(frame: bytes, error: Exception) -> Unfit:
    try:
        envelope = _envelopes.decode(frame)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise ProtocolError(
            "frame: not a msgpack map with a string 'type'", hint="send one map per binary frame"
        ) from None
    reason = _reason(envelope.type, error)
    if envelope.corr_id is None:
        raise ProtocolError(f"{reason}, and no corr_id to answer to")
    return Unfit(envelope.corr_id, reason)


def _reason(type: str, error: Exception) -> str:
    if type not in _TYPES:
        return f"Unknown message type '{type[:64]}'"
    found = _PLACE.match(str(error))
    field, reason = (found["field"] or "", found["reason"]) if found else ("", str(error))
    if missing := re.search(r"missing required field `(\w+)`", reason):
        field, reason = missing[1], "missing"
    return f"Invalid message '{type}': {field}: {reason}" if field else f"Invalid message '{type}': {reason}"


def response(corr_id: int, ok: bool, result: str, **more: str) -> bytes:
    """A result that is too long for a frame is refused with what to do instead."""
    result = clean_text(result)
    size_bytes = len(result.encode())
    if size_bytes > VALUE_LIMIT_BYTES:
        ok = False
        result = (
            f"the answer is {size_bytes} bytes, the limit is {VALUE_LIMIT_BYTES}: ask for a part of it with the "
            "paging options 'after' and 'limit' of a query"
        )
    return _encoder.encode({"type": "response", "corr_id": corr_id, "ok": ok, "result": result, **more})


def engine_event(sequence: int, time: float, kind: str, data: str) -> bytes:
    return _encoder.encode({"type": "engine_event", "sequence": sequence, "time": time, "kind": kind, "data": data})


def mcp_request(corr_id: int, process_id: str, server_name: str, method: str, params: str) -> bytes:
    return _encoder.encode(
        {
            "type": "mcp_request",
            "corr_id": corr_id,
            "process_id": process_id,
            "server_name": server_name,
            "method": method,
            "params": params,
        }
    )


EventName = Literal["stdout", "stderr", "message", "return", "error"]


def process_event(process_id: str, event: EventName, value: str, **more: str) -> bytes:
    return _encoder.encode(
        {"type": "process_event", "process_id": process_id, "event": event, "value": clean_text(value), **more}
    )


def file_chunk(process_id: str, file_hash: str, index: int, total: int, data: bytes, name: str) -> bytes:
    chunk = {
        "type": "file",
        "process_id": process_id,
        "file_hash": file_hash,
        "chunk_index": index,
        "total_chunks": total,
        "chunk_data": data,
    }
    return _encoder.encode({**chunk, "name": clean_text(name)} if name else chunk)
