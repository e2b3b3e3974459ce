"""Decodes frames of clients within bounds; an invalid one is refused, or answered if possible."""

import re
import struct
from collections.abc import Iterator
from typing import Any, cast

import msgspec

from pie_mlx.errors import ProtocolError
from pie_mlx.msgpack_count import Counts, count
from pie_mlx.server.frames.requests import AnyFrame, CorrelationId

COUNTED_BYTES = 4 << 10
"""The values of longer frames are counted before they are decoded."""
COUNTS_LIMIT = Counts(values=65_536, containers=4_096)
LEVELS = 16
LONGEST_BYTES = 64 << 10
"""Bounds the time for checking unread fields."""

_NUMBERS = {0xCC: 1, 0xCD: 2, 0xCE: 4, 0xCF: 8, 0xD0: 1, 0xD1: 2, 0xD2: 4, 0xD3: 8, 0xCA: 4, 0xCB: 8}
_SIZES = {**_NUMBERS, 0xD4: 2, 0xD5: 3, 0xD6: 5, 0xD7: 9, 0xD8: 17}
_LENGTHS = {0xC4: ">B", 0xC5: ">H", 0xC6: ">I", 0xD9: ">B", 0xDA: ">H", 0xDB: ">I", 0xC7: ">B", 0xC8: ">H", 0xC9: ">I"}
_EXTENSIONS = (0xC7, 0xC8, 0xC9)
_COUNTS = {0xDC: (">H", 1), 0xDD: (">I", 1), 0xDE: (">H", 2), 0xDF: (">I", 2)}


class Unfit(msgspec.Struct, frozen=True):
    """An invalid frame that can be answered, because its `corr_id` is readable."""

    corr_id: int
    reason: str


class _Envelope(msgspec.Struct):
    type: str
    corr_id: CorrelationId | None = None


_frames = msgspec.msgpack.Decoder(AnyFrame)
_fields = msgspec.msgpack.Decoder(dict[str, msgspec.Raw])
_envelopes = msgspec.msgpack.Decoder(_Envelope)
_TYPES = frozenset(str(kind.__struct_config__.tag) for kind in cast("Any", AnyFrame).__args__)
_PLACE = re.compile(r"^(?P<reason>.*?)(?: - at `\$\.?(?P<field>[^`]*)`)?$", re.DOTALL)


def decode(frame: bytes) -> AnyFrame | Unfit:
    """Raises ProtocolError for a frame that cannot even be answered."""
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
    """Check the nesting of unknown fields; known ones are flat. Raises ProtocolError without corr_id."""
    for name, value in _fields.decode(frame).items():
        if name in found.__struct_fields__ or name == "type":
            continue
        if why := _nesting_problem(bytes(value)):
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


def _nesting_problem(value: bytes) -> str:
    """Why a valid msgpack value in an unknown field is refused, "" if it is not."""
    if len(value) > LONGEST_BYTES:
        return f"unknown, and longer than {LONGEST_BYTES >> 10} KiB"
    left = [1]
    for items in _containers(value):
        left[-1] -= 1
        if items:
            left.append(items)
            if len(left) > LEVELS:  # the frame itself is one level
                return f"nested deeper than {LEVELS} levels"
        while len(left) > 1 and not left[-1]:
            left.pop()
    return ""


def _containers(value: bytes) -> Iterator[int]:
    """For each value, in byte order, the number of values directly inside it."""
    place = 0
    while place < len(value):
        code = value[place]
        place += 1
        if 0x80 <= code <= 0x9F:  # small maps and arrays
            yield (code & 15) * (1 if code & 0x10 else 2)
        elif code in _COUNTS:
            form, times = _COUNTS[code]
            yield struct.unpack_from(form, value, place)[0] * times
            place += struct.calcsize(form)
        else:
            yield 0
            place += _rest_bytes(code, value, place)


def _rest_bytes(code: int, value: bytes, place: int) -> int:
    """Bytes after the code of a value that is not a container."""
    if 0xA0 <= code <= 0xBF:
        return code & 31
    if code in _LENGTHS:
        form = _LENGTHS[code]
        return struct.calcsize(form) + struct.unpack_from(form, value, place)[0] + (code in _EXTENSIONS)
    return _SIZES.get(code, 0)
