"""What all doors read and write: refusals, bodies, answers. It generates nothing."""

import asyncio
import re
import uuid
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


def error_object(error):
    """The object inside `{"error": ...}`."""
    refusal = refusal_of(error)
    kind = KINDS.get(refusal.status, "server_error")
    return {"message": str(refusal), "type": kind, "param": refusal.param, "code": refusal.code}


def answered(error):
    """An error as an HTTP answer."""
    refusal = refusal_of(error)
    return {"status": refusal.status, "body": {"error": error_object(refusal)}}


LABELS = {"metadata", "prompt_cache_key", "safety_identifier", "user"}
"""Fields that are ignored: they only name the caller, or label stored answers, and nothing is stored here."""

SHORT_BYTES = 4096
"""Longer bodies are read on another thread, so that other requests on this loop do not wait."""
MOST_VALUES = 1 << 20
"""JSON values in a body: each takes up to a hundred times the memory of its text."""

_HIGH, _LOW = rb"\\u[dD][89abAB][0-9a-fA-F]{2}", rb"\\u[dD][c-fC-F][0-9a-fA-F]{2}"
_HALF = re.compile(rb"%b(?!%b)|(?<!%b)%b" % (_HIGH, _LOW, _HIGH, _LOW))
"""Half a surrogate pair, from a client that cuts a text inside an emoji; msgspec reports a truncated input."""
_PLACED = re.compile(r"(.*?)(?: - at `\$\.?([^`]*)`)?", re.DOTALL)
_UNKNOWN = re.compile(r"unknown field `(.*)`$", re.DOTALL)
_MISSING = re.compile(r"missing required field `(.*)`$")


class Strict(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """Refuses unknown fields."""


class Body(Strict):
    """A whole body, and the advice in errors about wrong ones.

    `NEUTRAL` are unsupported fields, with the values that have no effect. `INSTEAD` is the advice for unknown fields,
    by default to leave them out, and `ADVICE` for wrong values, by patterns of their paths.
    """

    NEUTRAL: ClassVar[dict[str, tuple[Any, ...]]] = {}
    INSTEAD: ClassVar[dict[str, str]] = {}
    ADVICE: ClassVar[dict[str, str]] = {}

    @classmethod
    def prepared(cls, given: dict[str, Any]) -> dict[str, Any]:
        """The fields, in the form that `read_fields` converts."""
        return given


async def read_body(body: bytes, kind: type[Body]) -> Any:
    """The body as `kind`. Raises Refusal that names the field."""
    return read_fields(body, kind) if len(body) <= SHORT_BYTES else await asyncio.to_thread(read_fields, body, kind)


def read_fields(body: bytes, kind: type[Body]) -> Any:
    """The body as `kind`, read on this thread."""
    given = {name: value for name, value in _decoded(body).items() if value is not None}
    known = set(kind.__struct_fields__)
    for name in given.keys() & LABELS - known:
        del given[name]
    for name in given.keys() & kind.NEUTRAL.keys() - known:
        if given.pop(name) not in kind.NEUTRAL[name]:
            raise _unsupported(name, kind)
    try:
        return msgspec.convert(kind.prepared(given), kind)
    except msgspec.ValidationError as error:
        raise _refused(str(error), kind) from None


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


def _unsupported(name: str, kind: type[Body]) -> Refusal:
    advice = kind.INSTEAD.get(name, "leave it out")
    return Refusal(400, f"'{name}' is not supported: {advice}", param=name, code="unsupported_parameter")


def _refused(text: str, kind: type[Body]) -> Refusal:
    """A Refusal from msgspec's text, `... - at `$.messages[0].content`` or `... unknown field `x``, with any x."""
    found = _PLACED.fullmatch(text)
    problem, path = (found[1], found[2] or "") if found else (text, "")
    unknown = _UNKNOWN.search(problem)
    if unknown:
        return _unsupported(f"{path}.{unknown[1]}" if path else unknown[1], kind)
    advice = next((advice for place, advice in kind.ADVICE.items() if re.fullmatch(place, path)), None)
    if advice is not None:
        return Refusal(400, f"{problem} - at `{path}`: {advice}", param=path, code="invalid_value")
    missing = _MISSING.search(problem)
    param = ".".join(part for part in (path, missing[1] if missing else "") if part)
    return Refusal(400, f"invalid body: {text.replace('$.', '')}", param=param or None, code="invalid_value")


@dataclass(frozen=True)
class Terms:
    """Names of fields. `places` are the indexes of the messages in the request, where they differ."""

    messages: str
    format: str
    strict: str
    call: str
    effort: str
    places: list[int] | None = None

    def message(self, place):
        """The path of the message at this place in the request."""
        return f"{self.messages}[{place if self.places is None else self.places[place]}]"


CHAT = Terms("messages", "response_format", "tools[].function.strict", "tool_call_id", "reasoning_effort")


STREAM_HEADERS = {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache"}
_encode = msgspec.json.Encoder().encode


def identifier(prefix):
    """An id for a part of an answer."""
    return f"{prefix}_{uuid.uuid4().hex[:24]}"


async def send(costs, pieces, form, *, stream):
    """`form` formats the parts: `whole(pieces, costs)`; in a stream `opening()`, `chunks(piece)`, and
    `closing(costs)` or `failed(error)`, then `END`.

    The first part is awaited before the answer begins, so that an error before it gets an HTTP status.
    """
    first = await anext(pieces)
    if stream:
        return {"headers": STREAM_HEADERS, "body": _stream(costs, first, pieces, form)}
    rest = [piece async for piece in pieces]
    return {"headers": {"content-type": "application/json"}, "body": _encode(form.whole([first, *rest], costs))}


async def _stream(costs, first, pieces, form):
    async with aclosing(pieces):
        yield _events([*form.opening(), *form.chunks(first)])
        try:
            async for piece in pieces:
                if chunks := form.chunks(piece):
                    yield _events(chunks)
        except Exception as error:
            yield _events(form.failed(error))
            return
    yield _events(form.closing(costs)) + form.END


def _events(values):
    return b"".join(map(_event, values))


def _event(value):
    """A server-sent event, named after its type if it has one."""
    name = b"event: %b\n" % value["type"].encode() if "type" in value else b""
    return name + b"data: " + _encode(value) + b"\n\n"
