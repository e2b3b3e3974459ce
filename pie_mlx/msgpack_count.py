"""Counts the values of a msgpack message without creating them."""

import re
from typing import NamedTuple

_RUN = 64
_VALUES = re.compile(
    rb"(?:[\x00-\x7F\xE0-\xFF\xC0\xC2\xC3]|[\xCD\xD1]..|[\xCA\xCE\xD2]....|[\xCC\xD0].|[\xCB\xCF\xD3].{8}){%d}" % _RUN,
    re.DOTALL,
)
"""Runs of numbers: lists of tokens are long, and matching a run is ten times as fast as one by one."""
_LONG_BLOCK = 0xC6
_EXTENSIONS = range(0xC7, 0xCA)
_LENGTH_BYTES = {0xC4: 1, 0xC5: 2, 0xC6: 4, 0xC7: 1, 0xC8: 2, 0xC9: 4, 0xD9: 1, 0xDA: 2, 0xDB: 4}
"""Bytes of the length field of texts and blocks of bytes, by code."""


class Counts(NamedTuple):
    """`values` that hold no others, and `containers`: lists and maps."""

    values: int
    containers: int

    def within(self, most: "Counts") -> bool:
        return self.values <= most.values and self.containers <= most.containers


def count(data: bytes | memoryview, most: Counts) -> Counts:
    """Stops when either count exceeds `most`. Truncated or invalid data is left to the decoder."""
    values = containers = place = 0
    most_values, most_containers = most
    end = len(data)
    while place < end and values <= most_values and containers <= most_containers:
        code = data[place]
        if width := _VALUE_BYTES[code]:
            place += width
            values += 1
        elif width := _HEADER_BYTES[code]:
            place += width
            containers += 1
            while width > 1 and values <= most_values and (run := _VALUES.match(data, place)):
                place = run.end()
                values += _RUN
        else:
            place = _block_end(data, place)
            values += 1
    return Counts(values, containers)


def block_bytes(data: bytes | memoryview, within: int) -> int:
    """The length of a block of bytes among the first `within` values of `data`, 0 without one."""
    place = 0
    for _ in range(within):
        if place + 5 > len(data):
            break
        code = data[place]
        if code == _LONG_BLOCK:
            return int.from_bytes(data[place + 1 : place + 5], "big")
        width = _VALUE_BYTES[code] or _HEADER_BYTES[code]
        place = place + width if width else _block_end(data, place)
    return 0


def _block_end(data: bytes | memoryview, place: int) -> int:
    """The end of the text or block of bytes whose code is at `place`."""
    code = data[place]
    begin = place + 1 + _LENGTH_BYTES[code]
    return begin + int.from_bytes(data[place + 1 : begin], "big") + (code in _EXTENSIONS)


def _value_bytes(code: int) -> int:
    """The length of a value whose code determines it; 0 for others."""
    match code:
        case 0xCC | 0xD0:
            return 2
        case 0xCD | 0xD1 | 0xD4:
            return 3
        case 0xD5:
            return 4
        case 0xCA | 0xCE | 0xD2:
            return 5
        case 0xD6:
            return 6
        case 0xCB | 0xCF | 0xD3:
            return 9
        case 0xD7:
            return 10
        case 0xD8:
            return 18
        case _ if 0xA0 <= code <= 0xBF:
            return 1 + (code & 31)
        case _:
            return 0 if 0x80 <= code <= 0x9F or 0xDC <= code <= 0xDF or code in _LENGTH_BYTES else 1


def _header_bytes(code: int) -> int:
    """Bytes before the items of a list or map; 0 for other values."""
    if 0x80 <= code <= 0x9F:
        return 1
    return {0xDC: 3, 0xDD: 5, 0xDE: 3, 0xDF: 5}.get(code, 0)


_VALUE_BYTES = [_value_bytes(code) for code in range(256)]
_HEADER_BYTES = [_header_bytes(code) for code in range(256)]
