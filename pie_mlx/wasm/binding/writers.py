"""Writers: from a Python value to the cell of a component's value. The values are those of `readers`.

A variant without a value may be its name alone. A result that is a WitError is its error. The memory that a cell points
to belongs to wasmtime.
"""

import struct
from array import array
from collections.abc import Callable, Iterable
from ctypes import addressof, c_char, c_uint64, memmove
from typing import Any, cast

from wasmtime import component as wit

from pie_mlx.errors import InvalidTypeError, LaunchError
from pie_mlx.wasm.binding import cells, library
from pie_mlx.wasm.binding.cells import CELL_BYTES, CONTENT, NUMBERS, PAIR, POINTER, strides
from pie_mlx.wasm.binding.resources import Resources

Writer = Callable[[Any, int], bytes]
"""(value, store context) -> cell"""

_vector = (c_uint64 * 2)()
_VECTOR = addressof(_vector)


class Ok:
    """A result that is not an error, around a value that may be a result itself."""

    def __init__(self, value: Any) -> None:
        self.value = value


class WitError(Exception):
    """Makes a function answer the error of its result: text, or a value of the result's own error type."""

    def __init__(self, value: Any) -> None:
        super().__init__(value)
        self.value = value


def writer(kind: wit.ValType, resources: Resources) -> Writer:
    """The writer of a type. Raises LaunchError for types of the component model that WIT 0.2 lacks."""
    if type(kind) in NUMBERS:
        return _number(*NUMBERS[type(kind)])
    match kind:
        case wit.String():
            return _text
        case wit.ListType():
            return _list(kind.element, resources)
        case wit.TupleType():
            return _tuple([writer(element, resources) for element in kind.elements])
        case wit.RecordType():
            return _record([(name, writer(field, resources)) for name, field in kind.fields])
        case wit.VariantType():
            return _variant((name, writer(case, resources) if case else None) for name, case in kind.cases)
        case wit.EnumType():
            return _enum
        case wit.OptionType():
            return _option(writer(kind.payload, resources))
        case wit.ResultType():
            return _result(_optional(kind.ok, resources), _optional(kind.err, resources))
        case wit.FlagsType():
            return _flags
        case wit.OwnType():
            return _own(resources)
        case _:
            raise LaunchError(
                f"component: a function of it answers {type(kind).__name__}, which this engine does not know",
                hint="build it for WASI 0.2 (wasm32-wasip2)",
            )


def _optional(kind: wit.ValType | None, resources: Resources) -> Writer | None:
    return None if kind is None else writer(kind, resources)


def _head(kind: int) -> bytes:
    return struct.pack("<B7x", kind)


def _number(kind: int, code: str) -> Writer:
    pack = struct.Struct(f"<B7x{code}{CELL_BYTES - CONTENT - struct.calcsize(code)}x").pack

    def write(value: Any, context: int) -> bytes:
        return pack(kind, value)

    return write


def _name(text: str) -> bytes:
    """The count and pointer of a text."""
    data = text.encode()
    library.bytes_new(_VECTOR, len(data), data)
    return PAIR.pack(_vector[0], _vector[1])


_STRING, _ENUM = _head(cells.STRING), _head(cells.ENUM)


def _text(value: str, context: int) -> bytes:
    return _STRING + _name(value) + bytes(8)


def _enum(value: str, context: int) -> bytes:
    return _ENUM + _name(value) + bytes(8)


def _filled(new: Callable[[int, int], None], count: int, data: bytes | bytearray) -> bytes:
    """The count and pointer of a new vector with this content."""
    new(_VECTOR, count)
    size, pointer = _vector[0], _vector[1]
    if count:
        source = data if isinstance(data, bytes) else (c_char * len(data)).from_buffer(data)
        memmove(pointer, source, len(data))
    return PAIR.pack(size, pointer) + bytes(8)


def _list(element: wit.ValType, resources: Resources) -> Writer:
    head = _head(cells.LIST)
    if type(element) in NUMBERS and not isinstance(element, wit.Bool):
        return _numbers(head, *NUMBERS[type(element)])
    write_element = writer(element, resources)

    def write(value: Iterable[Any], context: int) -> bytes:
        written = [write_element(one, context) for one in value]
        return head + _filled(library.list_new, len(written), b"".join(written))

    return write


def _numbers(head: bytes, kind: int, code: str) -> Writer:
    first, step = strides(code)
    empty = struct.pack(f"<B{CELL_BYTES - 1}x", kind)

    def write(value: Any, context: int) -> bytes:
        numbers = value if isinstance(value, bytes | bytearray) else array(code, value)
        data = bytearray(empty) * len(numbers)
        if data:
            given, cells_seen = cast("Any", memoryview(numbers)), cast("Any", memoryview(data))
            cells_seen.cast(code)[first::step] = given.cast("B").cast(code)
        return head + _filled(library.list_new, len(numbers), data)

    return write


def _tuple(writers: list[Writer]) -> Writer:
    head = _head(cells.TUPLE)

    def write(value: Iterable[Any], context: int) -> bytes:
        written = [write_one(one, context) for write_one, one in zip(writers, value, strict=True)]
        return head + _filled(library.tuple_new, len(written), b"".join(written))

    return write


def _record(fields: list[tuple[str, Writer]]) -> Writer:
    head = _head(cells.RECORD)

    def write(value: Iterable[Any], context: int) -> bytes:
        pairs = zip(fields, value, strict=True)
        written = [_name(name) + write_field(one, context) for (name, write_field), one in pairs]
        return head + _filled(library.record_new, len(written), b"".join(written))

    return write


def _variant(cases: Iterable[tuple[str, Writer | None]]) -> Writer:
    writers, head = dict(cases), _head(cells.VARIANT)

    def write(value: tuple[str, Any] | str, context: int) -> bytes:
        name, content = (value, None) if isinstance(value, str) else value
        write_case = writers[name]
        pointer = 0 if write_case is None else library.value_new(write_case(content, context))
        return head + _name(name) + POINTER.pack(pointer)

    return write


def _option(write_value: Writer) -> Writer:
    head = _head(cells.OPTION)

    def write(value: Any, context: int) -> bytes:
        pointer = 0 if value is None else library.value_new(write_value(value, context))
        return head + POINTER.pack(pointer) + bytes(16)

    return write


def _result(write_ok: Writer | None, write_error: Writer | None) -> Writer:
    head = _head(cells.RESULT)

    def write(value: Any, context: int) -> bytes:
        is_error = isinstance(value, WitError)
        content = value.value if is_error or isinstance(value, Ok) else value
        write_value = write_error if is_error else write_ok
        pointer = 0 if write_value is None else library.value_new(write_value(content, context))
        return head + PAIR.pack(not is_error, pointer) + bytes(8)

    return write


def _flags(value: Iterable[str], context: int) -> bytes:
    names = [_name(name) for name in value]
    return _head(cells.FLAGS) + _filled(library.flags_new, len(names), b"".join(names))


def _own(resources: Resources) -> Writer:
    head = _head(cells.RESOURCE)

    def write(value: Any, context: int) -> bytes:
        if value is None:
            raise InvalidTypeError("component: a function answers nothing where a resource is due", hint="report it")
        return head + POINTER.pack(resources.give(value, context)) + bytes(16)

    return write
