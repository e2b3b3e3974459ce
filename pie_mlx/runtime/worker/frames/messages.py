"""What travels between the engine and a worker: length-prefixed msgpack, strictly typed."""

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
    AnyCall = Call[Any]
else:
    AnyCall = functools.reduce(operator.or_, _CALLS)

FRAME_LIMIT_BYTES = 65 << 20
"""The longest frame: a file of 64 MiB and what is around it."""
OUTPUT_LIMIT_BYTES = 256 << 10
"""The longest piece of output in one frame."""

MESSAGE_LIMIT = 1 << 18
"""The longest text of an error, in characters."""

LONG_RESULTS = 8_192
"""Numbers in an answer beyond which it is made into a frame on another thread."""

NO_ANSWER = 0
"""Instead of a call's number: it is not answered."""

LENGTH = struct.Struct("<I")

_FITTING = "pass values of the types that the signature names"

UNREADABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)


class Frames(msgspec.Struct, frozen=True, array_like=True, omit_defaults=True, forbid_unknown_fields=True):
    """Arrays on the wire: a decode step should not pay for field names."""


class WireError(Frames, frozen=True):
    """An error; `kind` is the name of its class, `code` is "" for what is no PieError."""

    code: str
    kind: str
    message: str
    hint: str = ""
    details: dict[str, str | int | float | bool | None] = {}

    @classmethod
    def of(cls, error: BaseException) -> "WireError":
        message = clean_text(str(error))
        if len(message) > MESSAGE_LIMIT:  # it may tell of a name as long as a frame
            message = f"{message[:MESSAGE_LIMIT]} [...]"
        if not isinstance(error, PieError):
            return cls("", type(error).__name__, message)
        return cls(error.code, type(error).__name__, message, clean_text(error.hint), dict(error.details))

    def exception(self) -> Exception:
        """The error itself, or for a class only the program knows a ProcessError that says the same."""
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
    except TypeError:  # one that takes more than a message
        return None
    return error if str(error) == message else None


# From the engine.


class Source(Frames, frozen=True):
    """Where a program's modules lie: `directory` is None for a lone file. `dependencies` are by name."""

    main_file: str
    directory: str | None = None
    dependencies: "dict[str, Source]" = {}

    def paths(self) -> list[str]:
        """Every directory and lone file of it."""
        return [self.directory or self.main_file, *(p for one in self.dependencies.values() for p in one.paths())]


class LaunchSpec(Frames, frozen=True, tag="launch_spec"):
    """The first frame a worker gets: what to run, and under which bounds.

    `call` is how main takes its `input`, which is JSON text. `environment` replaces the worker's own.
    `workspace` is its working directory, which the program calls /scratch if it is `lasting`. Limits of None are none.
    `route` is how it reaches its proxy, which with `port` is at `proxy_port` and asks for a password.
    """

    identity: str
    source: Source
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


class Answer(Frames, frozen=True, tag="answer"):
    """The reply to a call, encoded."""

    number: int
    reply: msgspec.Raw


class ErrorAnswer(Frames, frozen=True, tag="error_answer"):
    """The error a call was answered with."""

    number: int
    error: WireError


class Stop(Frames, frozen=True, tag="stop"):
    """Cancel the program."""

    reason: str


class Ping(Frames, frozen=True, tag="ping"):
    """Are you still there?"""


# From a worker.


class Listening(Frames, frozen=True, tag="listening"):
    """Always the first frame, and only by the route `namespace`: the socket that comes along is for the proxy."""


class Request(Frames, frozen=True, tag="request"):
    """A call; `number` tells its answer from others, or that `NO_ANSWER`."""

    number: int
    message: AnyCall


class InvalidRequest(NamedTuple):
    """A request that can be answered, but not carried out: too large, or with a value the call does not take."""

    number: int
    error: PieError


class CancelCall(Frames, frozen=True, tag="cancel_call"):
    """Nobody waits for the answer to this call any more."""

    number: int


class Output(Frames, frozen=True, tag="output"):
    """Text the program wrote."""

    stream: Literal["stdout", "stderr"]
    text: str


class Ended(Frames, frozen=True, tag="ended"):
    """How the program ended: `value` in `format`, or an error. Nothing of it follows."""

    value: str = ""
    format: Literal["text", "json", "none"] = "none"
    error: WireError | None = None


class Pong(Frames, frozen=True, tag="pong"):
    """The answer to a ping."""


FromEngine = LaunchSpec | Answer | ErrorAnswer | Stop | Ping
FromWorker = Listening | Request | InvalidRequest | CancelCall | Output | Ended | Pong

_encoder = msgspec.msgpack.Encoder()


def pack(frame: Frames) -> bytes:
    """A frame with its length. Raises ProtocolError for one that is too long, InvalidTypeError and InvalidArgumentError
    for values no frame can hold."""
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
    """An `Answer`, its reply encoded in the same go."""
    return _with_length(_encoder.encode(("answer", number, reply)))


def is_long_reply(reply: object) -> bool:
    """Whether a frame takes longer to make of it than a turn of the engine's loop."""
    if type(reply) is not calls.ForwardReply:
        return False
    return len(reply.results) + sum(_width(result) for result in reply.results) > LONG_RESULTS


def _width(result: calls.AnyResult) -> int:
    """How many numbers it holds."""
    match result:
        case calls.SampledTokens(logprobs=values):
            return 1 + len(values)
        case calls.EntropyValue():
            return 1
        case calls.RawLogits(data=data):
            return len(data) >> 8  # copied as they are
        case calls.Probabilities(token_ids=values) | calls.LogprobValues(values=values):
            return len(values)
        case calls.HiddenStateValues(values=values):
            return len(values)


def pack_long_answer(number: int, reply: calls.ForwardReply) -> bytes:
    """As `pack_answer`, result by result: each is one step of the interpreter."""
    results = [msgspec.Raw(_encoder.encode(result)) for result in reply.results]
    return pack_answer(number, msgspec.structs.replace(reply, results=results))


def _with_length(payload: bytes) -> bytes:
    if len(payload) > FRAME_LIMIT_BYTES:
        raise ProtocolError(
            f"{len(payload)} bytes do not fit one frame of {FRAME_LIMIT_BYTES}", hint="send it in smaller pieces"
        )
    return LENGTH.pack(len(payload)) + payload


class _Named(msgspec.Struct):
    call: str


class _LooseRequest(Frames, frozen=True, tag="request"):
    number: int
    message: _Named


def rescued(payload: bytes | memoryview, reason: Exception) -> InvalidRequest | None:
    """What the decoder refused, as a request that can be answered; None where it is none, or of an unknown call."""
    try:
        request = _loose_requests.decode(payload)
    except UNREADABLE:
        return None
    name = request.message.call
    if name not in _CALL_NAMES:
        return None
    return InvalidRequest(request.number, InvalidTypeError(str(reason).replace("$[2]", name), hint=_FITTING))


def reply_decoder(call: type[Call[Any]]) -> "msgspec.msgpack.Decoder[Any]":
    """Decodes the replies to one kind of call."""
    return _reply_decoders[call]


def _make_reply_decoder(call: type[Call[Any]]) -> "msgspec.msgpack.Decoder[Any]":
    (reply,) = get_args(vars(call)["__orig_bases__"][0])
    if isinstance(reply, ForwardRef):
        reply = vars(sys.modules[call.__module__])[reply.__forward_arg__]
    return msgspec.msgpack.Decoder(reply)


worker_frames = msgspec.msgpack.Decoder(Listening | Request | CancelCall | Output | Ended | Pong)
engine_frames = msgspec.msgpack.Decoder(FromEngine)
_loose_requests = msgspec.msgpack.Decoder(_LooseRequest)
# Made ahead: workers inherit them from the fork server.
_reply_decoders = {call: _make_reply_decoder(call) for call in _CALLS}
