"""The frames a client sends: one msgpack map each, told apart by `type`."""

import re
from typing import Annotated

import msgspec
from msgspec import Meta

CHUNK_LIMIT_BYTES = 1 << 20
CHUNKS_LIMIT = 65_536

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
    """If not `keep`, it is not installed: only this connection can launch it, by name and version."""

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
    """`model` is its default model, None for that of the engine."""

    inferlet: str
    input: str
    capture_outputs: bool = True
    token_budget: int | None = None
    model: str | None = None


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


class LoadModel(Request, frozen=True):
    name: str


class UnloadModel(Request, frozen=True):
    name: str


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


class WatchTokens(Request, frozen=True):
    """Watch the tokens of a process; of none if the id is empty."""

    process_id: str


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
    """The client sends the process nothing more."""

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
    | LoadModel
    | UnloadModel
    | RegisterMcpServer
    | WatchEvents
    | UnwatchEvents
    | WatchTokens
    | SubmitWorkflow
    | CancelWorkflow
    | AttachWorkflow
    | DetachWorkflow
    | SignalProcess
    | CloseSession
    | TransferFile
    | McpResponse
)
