"""Read bodies of requests strictly: an unsupported field is refused."""

import asyncio
import re
from typing import Any, ClassVar

import msgspec

from wire.refusals import Refusal

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
