"""What all doors read and write: refusals, bodies, answers. It generates nothing."""

import asyncio
import logging
import re
import time
import uuid
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, ClassVar

import msgspec

STATUS = {
    "invalid_argument": 400,
    "invalid_type": 400,
    "grammar": 400,
    "template": 400,
    "empty_mask": 400,
    "context_length": 400,
    "out_of_pages": 400,
    "model_not_found": 404,
    "token_budget": 429,
    "admission": 429,
}
"""The engine's errors by their code; all others are 500."""
HINTS = {"grammar": "remove or rewrite it"}
"""Hints for errors whose own hint is for authors of programs."""
TOO_LONG = {"context_length", "out_of_pages"}
KINDS = {400: "invalid_request_error", 404: "invalid_request_error", 405: "invalid_request_error", 429: "rate_limit"}


class Refusal(Exception):  # noqa: N818 - it is an answer
    """An error of the client: `param` is the field of its body, `code` a word for programs."""

    def __init__(self, status, message, *, param=None, code=None):
        super().__init__(message)
        self.status, self.param, self.code = status, param, code

    @classmethod
    def unknown_model(cls, name, names):
        known = ", ".join(names)
        return cls(404, f"The model '{name}' does not exist: there is {known}", param="model", code="model_not_found")


def refusal_of(error):
    """Any error as a refusal."""
    if isinstance(error, Refusal):
        return error
    kind = getattr(error, "code", "")
    status = STATUS.get(kind, 500)
    hint = HINTS.get(kind, getattr(error, "hint", ""))
    text = str(error) or type(error).__name__
    code = "context_length_exceeded" if kind in TOO_LONG else kind or None
    return Refusal(status, f"{text} ({hint})" if hint else text, code=code)


def error_body(refusal):
    """A refusal as OpenAI's clients read it."""
    kind = KINDS.get(refusal.status, "server_error")
    return {"error": {"message": str(refusal), "type": kind, "param": refusal.param, "code": refusal.code}}


SHORT_BYTES = 4096
"""Longer bodies are read on another thread."""
MOST_VALUES = 1 << 20
"""JSON values in a body: each takes up to a hundred times the memory of its text."""

_HIGH, _LOW = rb"\\u[dD][89abAB][0-9a-fA-F]{2}", rb"\\u[dD][c-fC-F][0-9a-fA-F]{2}"
_HALF = re.compile(rb"%b(?!%b)|(?<!%b)%b" % (_HIGH, _LOW, _HIGH, _LOW))
"""Half a surrogate pair, from a client that cuts a text inside an emoji; msgspec reports a truncated input."""
_PLACED = re.compile(r"(.*?)(?: - at `\$\.?([^`]*)`)?", re.DOTALL)
_UNKNOWN = re.compile(r"unknown field `(.*)`$", re.DOTALL)
_MISSING = re.compile(r"missing required field `(.*)`$")


class Strict(msgspec.Struct, forbid_unknown_fields=True, kw_only=True, gc=False):
    """Refuses unknown fields. None refers to itself, so that the collector need not look at a hundred thousand."""


LEVELS = 2
"""How deep in a body null fields are as good as none: in its messages and their parts, but not inside of schemas."""


def _drop_nulls(given: dict[str, Any], levels: int = LEVELS) -> None:
    if None in given.values():
        for name in [name for name, value in given.items() if value is None]:
            del given[name]
    for value in given.values() if levels else ():
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, dict):
                _drop_nulls(one, levels - 1)


class Body(Strict, dict=True, gc=True):
    """A whole body, and the advice in errors about wrong ones. `left_out` names its hints that have no effect here.

    `LABELS` only name the caller, or label stored answers. `HINTS` may be left out without changing the answer.
    `NEUTRAL` are unsupported fields, with the values that ask for nothing. `INSTEAD` is the advice for unknown fields,
    by default to leave them out, and `ADVICE` for wrong values, by patterns of their paths.
    """

    LABELS: ClassVar[frozenset[str]] = frozenset({"metadata", "prompt_cache_key", "safety_identifier", "user"})
    HINTS: ClassVar[frozenset[str]] = frozenset()
    NEUTRAL: ClassVar[dict[str, tuple[Any, ...]]] = {}
    INSTEAD: ClassVar[dict[str, str]] = {}
    ADVICE: ClassVar[dict[str, str]] = {}

    @property
    def model_name(self) -> str:
        """The name of the model, for a body that has one."""
        return self.model

    @classmethod
    def prepared(cls, given: dict[str, Any], left_out: list[str]) -> dict[str, Any]:
        """The fields, in the form that `read_fields` converts, without the hints that are added to `left_out`."""
        return given


def leave_out_tools(given: dict[str, Any], left_out: list[str], kept: str) -> None:
    """Leave out tools of other types than the one `kept`: no one here could run them, so that none are called."""
    tools = given.get("tools")
    if not isinstance(tools, list):
        return
    given["tools"] = []
    for place, tool in enumerate(tools):
        if not isinstance(tool, dict) or tool.get("type", kept) == kept:
            given["tools"].append(tool)
        else:
            left_out.append(f"tools[{place}] ({tool.get('name') or tool['type']})")


async def aside(is_long: bool, function: Callable[..., Any], *arguments: Any) -> Any:
    """What a function returns. One that takes long runs on another thread, so that others on this loop do not wait."""
    return await asyncio.to_thread(function, *arguments) if is_long else function(*arguments)


async def read_body(body: bytes, kind: type[Body]) -> Any:
    """The body as `kind`, and the time when that began. Raises Refusal that names the field."""
    begun = time.perf_counter()
    request = await aside(len(body) > SHORT_BYTES, read_fields, body, kind)
    request.begun = begun
    return request


def read_fields(body: bytes, kind: type[Body]) -> Any:
    """The body as `kind`, read on this thread."""
    given = _decoded(body)
    _drop_nulls(given)
    known = set(kind.__struct_fields__)
    for name in given.keys() & kind.LABELS - known:
        del given[name]
    for name in given.keys() & kind.NEUTRAL.keys() - known:
        if given[name] in kind.NEUTRAL[name]:
            del given[name]
        elif name not in kind.HINTS:
            raise unsupported(name, kind)
    left_out = [name for name in given if name in kind.HINTS - known]
    for name in left_out:
        del given[name]
    try:
        request = msgspec.convert(kind.prepared(given, left_out), kind)
    except msgspec.ValidationError as error:
        raise _refused(str(error), kind) from None
    request.left_out = left_out
    return request


def _decoded(body: bytes) -> dict[str, Any]:
    if _has_more_values(body, MOST_VALUES):
        raise Refusal(400, f"the body has more than {MOST_VALUES:,} values")
    try:
        found: Any = msgspec.json.decode(body)
    except RecursionError:
        raise Refusal(400, "the body is nested too deeply") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        why = "a \\u escape is half of a surrogate pair" if _HALF.search(body) else error
        raise Refusal(400, f"the body is not JSON: {why}") from None
    if not isinstance(found, dict):
        raise Refusal(400, "the body is not a JSON object")
    return found


def _has_more_values(body: bytes, most: int) -> bool:
    """Whether a body has more than `most` values, counted without decoding it."""
    if sum(map(body.count, b",[{")) <= most:
        return False
    bare = body.replace(b"\\\\", b"").replace(b'\\"', b"")
    return bare.count(b'"') > 2 * most or sum(sum(map(part.count, b",[{")) for part in bare.split(b'"')[::2]) > most


def unsupported(name: str, kind: type[Body] = Body) -> Refusal:
    """A refusal of a field, with the advice of `kind`."""
    advice = kind.INSTEAD.get(name, "leave it out")
    return Refusal(400, f"'{name}' is not supported: {advice}", param=name, code="unsupported_parameter")


def _refused(text: str, kind: type[Body]) -> Refusal:
    """A Refusal from msgspec's text, `... - at `$.messages[0].content`` or `... unknown field `x``, with any x."""
    found = _PLACED.fullmatch(text)
    problem, path = (found[1], found[2] or "") if found else (text, "")
    unknown = _UNKNOWN.search(problem)
    if unknown:
        return unsupported(f"{path}.{unknown[1]}" if path else unknown[1], kind)
    advice = next((advice for place, advice in kind.ADVICE.items() if re.fullmatch(place, path)), None)
    if advice is not None:
        return Refusal(400, f"{problem} - at `{path}`: {advice}", param=path, code="invalid_value")
    missing = _MISSING.search(problem)
    param = ".".join(part for part in (path, missing[1] if missing else "") if part)
    return Refusal(400, f"invalid body: {text.replace('$.', '')}", param=param or None, code="invalid_value")


@dataclass(frozen=True)
class Terms:
    """Names of fields. `places` are the paths of the messages in the request, where they differ. It `continues` a last
    message of the assistant, where the others begin a new one."""

    messages: str
    format: str
    strict: str
    call: str
    effort: str
    places: list[str] | None = None
    continues: bool = False

    def message(self, place):
        """The path of the message at this place in the request."""
        return f"{self.messages}[{place}]" if self.places is None else self.places[place]


CHAT = Terms("messages", "response_format", "tools[].function.strict", "tool_call_id", "reasoning_effort")


MOST_REPORTED = 1024
"""Characters of a header, and different ones in the log."""
END_OF_STREAM = object()
_encode = msgspec.json.Encoder().encode
_log = logging.getLogger("pie.api")
_reported = set()


def identifier(prefix):
    """An id for a part of an answer."""
    return f"{prefix}_{uuid.uuid4().hex[:24]}"


class EventForm:
    """A stream of server-sent events. `SILENCE` is sent while there is nothing to say, or `loading(model, part)` while
    the model is loaded, of which a part from 0 to 1 is there; `END` at the end.

    Subclasses format the parts: `whole(pieces)`; in a stream `opening()`, `chunks(piece)`, and `closing()` or
    `failed(refusal)`, which comes before `opening()` if the prompt cannot be read. `costs` are known once it has been.
    """

    TYPE = "text/event-stream; charset=utf-8"
    SILENCE = b": \n\n"
    END = b""
    costs = None
    error_body = staticmethod(error_body)

    def failed(self, refusal):
        return [self.error_body(refusal)]

    @staticmethod
    def loading(model, part):
        """A comment, which clients leave out."""
        return f": loading {' '.join(model.split())} {part * 100:.0f} %\n\n".encode()

    @staticmethod
    def encode(values):
        """The bytes of some events, each named after its type if it has one."""
        return b"".join(map(_event, values))


def reported(left_out):
    """The header that names the hints of a request that have no effect here. The log names each set of them once."""
    if not left_out:
        return {}
    names = ", ".join(dict.fromkeys(left_out)).encode("ascii", "replace").decode()
    names = "".join(one if one.isprintable() else "?" for one in names)[:MOST_REPORTED]
    if names not in _reported and len(_reported) < MOST_REPORTED:
        _reported.add(names)
        _log.warning("left out, because they have no effect here: %s", names)
    return {"x-pie-left-out": names}


async def merged(streams, *, endless=0):
    """The parts of several streams in the order they arrive, until all but the `endless` ones have ended. A stream
    waits while its parts are not read."""
    if len(streams) == 1:
        async with aclosing(streams[0]) as only:
            async for piece in only:
                yield piece
        return
    queue = asyncio.Queue(len(streams))
    tasks = [asyncio.create_task(_forward(stream, queue)) for stream in streams]
    try:
        left = len(tasks) - endless
        while left:
            piece = await queue.get()
            if isinstance(piece, Exception):
                raise piece
            if piece is END_OF_STREAM:
                left -= 1
            else:
                yield piece
    finally:
        for task in tasks:
            task.cancel()
        # Wait until every stream has ended: nothing else holds these tasks.
        await asyncio.gather(*tasks, return_exceptions=True)


async def _forward(pieces, queue):
    """Put the parts into a queue, and then END_OF_STREAM or the error that ended them."""
    try:
        async with aclosing(pieces):
            async for piece in pieces:
                await queue.put(piece)
        await queue.put(END_OF_STREAM)
    except Exception as error:
        await queue.put(error)


def _event(value):
    name = b"event: %b\n" % value["type"].encode() if "type" in value else b""
    return name + b"data: " + _encode(value) + b"\n\n"
