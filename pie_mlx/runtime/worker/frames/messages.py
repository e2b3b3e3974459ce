"""Messages between the engine and a worker: length-prefixed msgpack, strictly typed."""

import builtins
import functools
import operator
import struct
import sys
from typing import TYPE_CHECKING, Any, ForwardRef, Literal, NamedTuple, get_args

import msgspec

from pie_mlx import calls
from pie_mlx.calls import Call
from pie_mlx.calls.base import snake_case
from pie_mlx.errors import (
    Detail,
    InvalidArgumentError,
    InvalidTypeError,
    PieError,
    ProcessError,
    ProtocolError,
    from_code,
)
from pie_mlx.wire_text import clean_text

_CALLS: list[type[Call[Any]]] = [
    kind for kind in vars(calls).values() if isinstance(kind, type) and Call in kind.__bases__
]
_CALL_NAMES = {snake_case(kind.__name__) for kind in _CALLS}
if TYPE_CHECKING:
    from pie_mlx.runtime.program.program import Program

    AnyCall = Call[Any]
else:
    AnyCall = functools.reduce(operator.or_, _CALLS)

FRAME_LIMIT_BYTES = 65 << 20
"""The longest frame: a file of 64 MiB with its envelope."""
OUTPUT_LIMIT_BYTES = 256 << 10
"""The longest piece of output in one frame."""

MESSAGE_LIMIT = 1 << 18
"""The longest text of an error, in characters."""

LONG_RESULTS = 8_192
"""Answers with more numbers are encoded on another thread."""

NO_ANSWER = 0
"""The number of calls that are not answered."""

LENGTH = struct.Struct("<I")

_FITTING = "pass values of the types that the signature names"

UNREADABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)


class Frames(msgspec.Struct, frozen=True, array_like=True, omit_defaults=True, forbid_unknown_fields=True):
    """Encoded as arrays, to save field names in every decode step."""


class WireError(Frames, frozen=True):
    """An error; `kind` is its class's name, `code` is "" unless it is a PieError."""

    code: str
    kind: str
    message: str
    hint: str = ""
    details: dict[str, str | int | float | bool | None] = {}

    @classmethod
    def of(cls, error: BaseException) -> "WireError":
        message = clean_text(str(error))
        if len(message) > MESSAGE_LIMIT:  # it may quote a name as long as a frame
            message = f"{message[:MESSAGE_LIMIT]} [...]"
        if not isinstance(error, PieError):
            return cls("", type(error).__name__, message)
        return cls(error.code, type(error).__name__, message, clean_text(error.hint), dict(error.details))

    def exception(self) -> Exception:
        """The error; a ProcessError with the same message if only the program knows its class."""
        if self.code:
            details: dict[str, Detail] = dict(self.details)
            return from_code(self.code, self.message, self.hint, details)
        return _builtin_error(self.kind, self.message) or ProcessError(self.message)


def _builtin_error(name: str, message: str) -> Exception | None:
    kind = getattr(builtins, name, None)
    if not (isinstance(kind, type) and issubclass(kind, Exception)):
        return None
    try:
        error = kind(message)
    except TypeError:  # a class that needs more than a message
        return None
    return error if str(error) == message else None


# From the engine.


class ProgramLocation(Frames, frozen=True):
    """The location of a program's modules: `directory` is None for a single file. `dependencies` are by name."""

    main_file: str
    directory: str | None = None
    dependencies: "dict[str, ProgramLocation]" = {}

    @classmethod
    def of(cls, program: "Program") -> "ProgramLocation":
        directory = str(program.directory.resolve()) if program.directory else None
        needed = {name: cls.of(one) for name, one in program.dependencies.items()}
        return cls(str(program.main_file.resolve()), directory, needed)

    def paths(self) -> list[str]:
        """All its directories and single files."""
        return [self.directory or self.main_file, *(p for one in self.dependencies.values() for p in one.paths())]


class CompiledLocation(Frames, frozen=True):
    """The compiled form of a component, and the digest of its content."""

    file: str
    digest: str


class Draws(Frames, frozen=True):
    """Makes a program repeatable: its random draws have a `seed`, and its clock readings are reported.

    The clocks began at `began_ns` of the monotonic clock, when it was `wall_ns` since 1970. With the path of a
    `recording`, `run_by` (`module:name`) makes the run that goes on from it; with a seed of 0 it has no draws and
    clocks.
    """

    seed: int
    began_ns: int
    wall_ns: int
    recording: str = ""
    run_by: str = ""


class LaunchSpec(Frames, frozen=True, tag="launch_spec"):
    """The first frame a worker gets: what to run, and with which limits.

    `call` is how main takes its `input`, which is JSON text. `environment` replaces the worker's. `workspace` is the
    working directory, which is also /scratch if it is `lasting`. A limit of None means none. `route` is how it reaches
    its proxy; with `port` that is at `proxy_port` and requires a password. A `debugged` program begins when a
    debugger has attached. A component has a `compiled` form. `node` is what a worker gets that is Node.
    """

    identity: str
    source: ProgramLocation
    entry: str
    call: str
    input: str
    environment: dict[str, str]
    workspace: str
    lasting: bool
    scratch_max_bytes: int
    max_memory_bytes: int | None
    max_cpu_seconds: int | None
    max_open_files: int | None
    sandbox: Literal["required", "best-effort", "off"]
    route: Literal["closed", "namespace", "port"] = "closed"
    proxy_port: int = 0
    proxy_password: str = ""
    debugged: bool = False
    draws: Draws | None = None
    compiled: CompiledLocation | None = None
    node: "NodeLaunch | None" = None


class NodeStart(Frames, frozen=True, tag="node_start"):
    """The first frame of a worker that becomes Node, which then waits for a `NodeLaunch`.

    `command` is what it executes. Of `spec` it takes environment, workspace, limits and walls. `readable` are paths
    that its programs may read.
    """

    command: list[str]
    readable: list[str]
    spec: LaunchSpec


class NodeLaunch(Frames, frozen=True, tag="node_launch"):
    """What Node is to run.

    `home` is the directory of the program as its author knows it, `main_file` a path in it. `files` are copies of its
    files, by paths in it; None: they are read where they are. `types_stripped` are the texts of modules whose types
    have been stripped before, by the same paths. `packages` are main files of the programs that it requires, by name.
    """

    home: str
    main_file: str
    entry: str
    call: str
    input: str
    lasting: bool
    files: dict[str, bytes] | None = None
    types_stripped: dict[str, str] | None = None
    packages: dict[str, str] = {}


class Answer(Frames, frozen=True, tag="answer"):
    """The reply to a call, encoded."""

    number: int
    reply: msgspec.Raw


class ErrorAnswer(Frames, frozen=True, tag="error_answer"):
    """The error reply to a call."""

    number: int
    error: WireError


class Stop(Frames, frozen=True, tag="stop"):
    """Cancel the program."""

    reason: str


class Ping(Frames, frozen=True, tag="ping"):
    """Asks for a sign of life."""


# From a worker.


class Debugging(Frames, frozen=True, tag="debugging"):
    """The first frame of a debugged worker: carries the engine's end of the debugger's channel."""


class Listening(Frames, frozen=True, tag="listening"):
    """The first frame with route `namespace`, after `Debugging`: carries the listening socket for the proxy."""


class CallFrame(Frames, frozen=True, tag="request"):
    """A call; `number` identifies its answer, or is `NO_ANSWER`."""

    number: int
    message: AnyCall


class InvalidCall(NamedTuple):
    """A request that is only answered with an error: too large, or with an invalid value."""

    number: int
    error: PieError


class CancelCall(Frames, frozen=True, tag="cancel_call"):
    """Cancels a call."""

    number: int


class Output(Frames, frozen=True, tag="output"):
    """Text the program wrote."""

    stream: Literal["stdout", "stderr"]
    text: str


class TypesStripped(Frames, frozen=True, tag="types_stripped"):
    """The program's TypeScript modules without their types, by path. Node sends it before it runs the program."""

    texts: dict[str, str]


class ClockReading(Frames, frozen=True, tag="clock_reading"):
    """The program read a clock, at `time_ns` after its clocks began."""

    time_ns: int


class Ended(Frames, frozen=True, tag="ended"):
    """How the program ended: `value` in `format`, or an error. The program's last frame."""

    value: str = ""
    format: Literal["text", "json", "none"] = "none"
    error: WireError | None = None


class Pong(Frames, frozen=True, tag="pong"):
    """The answer to a ping."""


FromEngine = LaunchSpec | NodeStart | NodeLaunch | Answer | ErrorAnswer | Stop | Ping
FromWorker = (
    Debugging | Listening | CallFrame | InvalidCall | CancelCall | Output | TypesStripped | ClockReading | Ended | Pong
)

_encoder = msgspec.msgpack.Encoder()


def pack(frame: Frames) -> bytes:
    """A frame with its length.

    Raises ProtocolError if it is too long, InvalidTypeError and InvalidArgumentError for values it cannot hold.
    """
    try:
        payload = _encoder.encode(frame)
    except TypeError as error:
        raise InvalidTypeError(f"{_name(frame)}: {error}", hint=_FITTING) from error
    except (OverflowError, UnicodeEncodeError) as error:
        raise InvalidArgumentError(f"{_name(frame)}: {error}", hint="pass ints of 64 bits and Unicode text") from error
    return _with_length(payload)


def _name(frame: Frames) -> str:
    return snake_case(type(frame).__name__).replace("_", " ")


def pack_answer(number: int, reply: object) -> bytes:
    """An `Answer`, encoded together with its reply."""
    return _with_length(_encoder.encode(("answer", number, reply)))


def is_long_reply(reply: object) -> bool:
    """Whether encoding it would block the engine's loop for too long."""
    if type(reply) is not calls.ForwardReply:
        return False
    return len(reply.results) + sum(_width(result) for result in reply.results) > LONG_RESULTS


def _width(result: calls.AnyResult) -> int:
    """Numbers in a result."""
    match result:
        case calls.SampledTokens(logprobs=values, states=states):
            return 1 + len(values) + sum(map(len, states))
        case calls.EntropyValue():
            return 1
        case calls.RawLogits(data=data) | calls.AttentionScoreValues(data=data):
            return len(data) >> 8  # copied unchanged
        case calls.Probabilities(token_ids=values) | calls.LogprobValues(values=values):
            return len(values)
        case calls.HiddenStateValues(values=values):
            return len(values)


def pack_long_answer(number: int, reply: calls.ForwardReply) -> bytes:
    """Like `pack_answer`, encoding each result separately, so that other threads run between them."""
    results = [msgspec.Raw(_encoder.encode(result)) for result in reply.results]
    return pack_answer(number, msgspec.structs.replace(reply, results=results))


def _with_length(payload: bytes) -> bytes:
    if len(payload) > FRAME_LIMIT_BYTES:
        raise ProtocolError(
            f"{len(payload)} bytes exceed a frame of {FRAME_LIMIT_BYTES}", hint="send it in smaller pieces"
        )
    return LENGTH.pack(len(payload)) + payload


class _Named(msgspec.Struct):
    call: str


class _LooseRequest(Frames, frozen=True, tag="request"):
    number: int
    message: _Named


def rescued(payload: bytes | memoryview, reason: Exception) -> InvalidCall | None:
    """A refused frame as a request that can be answered; None if it is not one, or of an unknown call."""
    try:
        request = _loose_requests.decode(payload)
    except UNREADABLE:
        return None
    name = request.message.call
    if name not in _CALL_NAMES:
        return None
    return InvalidCall(request.number, InvalidTypeError(str(reason).replace("$[2]", name), hint=_FITTING))


def reply_decoder(call: type[Call[Any]]) -> "msgspec.msgpack.Decoder[Any]":
    """The decoder for replies to one kind of call."""
    return _reply_decoders[call]


def _make_reply_decoder(call: type[Call[Any]]) -> "msgspec.msgpack.Decoder[Any]":
    (reply,) = get_args(vars(call)["__orig_bases__"][0])
    if isinstance(reply, ForwardRef):
        reply = vars(sys.modules[call.__module__])[reply.__forward_arg__]
    return msgspec.msgpack.Decoder(reply)


worker_frames = msgspec.msgpack.Decoder(
    Debugging | Listening | CallFrame | CancelCall | Output | TypesStripped | ClockReading | Ended | Pong
)
engine_frames = msgspec.msgpack.Decoder(FromEngine)
_loose_requests = msgspec.msgpack.Decoder(_LooseRequest)
# Made ahead: workers inherit them from the fork server.
_reply_decoders = {call: _make_reply_decoder(call) for call in _CALLS}
