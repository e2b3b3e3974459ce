"""How wasmtime lays out values in memory.

A value is a cell of 32 bytes: its kind in the first, its content from the eighth on. Lists, tuples, records and flags
are a count and a pointer to cells; a field of a record is a name and a cell.
"""

import struct
from typing import Any

from wasmtime import component as wit

CELL_BYTES, CONTENT, FIELD_BYTES, FIELD_CONTENT = 32, 8, 48, 24
PAIR = struct.Struct("<QQ")
POINTER = struct.Struct("<Q")

BOOL, S8, U8, S16, U16, S32, U32, S64, U64, F32, F64 = range(11)
CHAR, STRING, LIST, RECORD, TUPLE, VARIANT, ENUM, OPTION, RESULT, FLAGS, RESOURCE = range(11, 22)

NUMBERS: dict[type[Any], tuple[int, str]] = {
    wit.Bool: (BOOL, "?"),
    wit.S8: (S8, "b"),
    wit.U8: (U8, "B"),
    wit.S16: (S16, "h"),
    wit.U16: (U16, "H"),
    wit.S32: (S32, "i"),
    wit.U32: (U32, "I"),
    wit.S64: (S64, "q"),
    wit.U64: (U64, "Q"),
    wit.F32: (F32, "f"),
    wit.F64: (F64, "d"),
}
"""The kind and the format of each numeric type."""


def strides(code: str) -> tuple[int, int]:
    """In an array of cells seen as numbers of this format: the first value's place, and the distance to the next."""
    size = struct.calcsize(code)
    return CONTENT // size, CELL_BYTES // size
