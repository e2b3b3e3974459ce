"""How deep the parts of a frame are nested that nobody reads."""

import struct
from collections.abc import Iterator

LEVELS = 16
LONGEST_BYTES = 64 << 10
"""Looking through what is not read must not hold up the others."""

_NUMBERS = {0xCC: 1, 0xCD: 2, 0xCE: 4, 0xCF: 8, 0xD0: 1, 0xD1: 2, 0xD2: 4, 0xD3: 8, 0xCA: 4, 0xCB: 8}
_SIZES = {**_NUMBERS, 0xD4: 2, 0xD5: 3, 0xD6: 5, 0xD7: 9, 0xD8: 17}
_LENGTHS = {0xC4: ">B", 0xC5: ">H", 0xC6: ">I", 0xD9: ">B", 0xDA: ">H", 0xDB: ">I", 0xC7: ">B", 0xC8: ">H", 0xC9: ">I"}
_EXTENSIONS = (0xC7, 0xC8, 0xC9)
_COUNTS = {0xDC: (">H", 1), 0xDD: (">I", 1), 0xDE: (">H", 2), 0xDF: (">I", 2)}


def problem(value: bytes) -> str:
    """What speaks against a valid msgpack value, "" if nothing does."""
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
    """Of each value in the order of the bytes how many follow inside of it."""
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
    """How many bytes follow the code of a value that is no container."""
    if 0xA0 <= code <= 0xBF:
        return code & 31
    if code in _LENGTHS:
        form = _LENGTHS[code]
        return struct.calcsize(form) + struct.unpack_from(form, value, place)[0] + (code in _EXTENSIONS)
    return _SIZES.get(code, 0)
