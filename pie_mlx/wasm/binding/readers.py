"""Readers: from a component's value to a Python one.

Numbers, text and lists are themselves, `list<u8>` is bytes. A record or tuple is a tuple, an option the value or None,
an enum its name, flags a frozenset of names, a variant `(name, value)`, a result `(whether it is ok, value)`, a
resource the object behind it.
"""

from collections.abc import Callable, Iterable
from ctypes import string_at
from struct import Struct
from typing import Any

from wasmtime import component as wit

from pie_mlx.errors import LaunchError
from pie_mlx.wasm.binding.cells import CELL_BYTES, CONTENT, FIELD_BYTES, FIELD_CONTENT, NUMBERS, PAIR, POINTER, strides
from pie_mlx.wasm.binding.resources import Resources

Reader = Callable[[bytes, int, int], Any]
"""(memory, place of the content in it, store context) -> value"""


def reader(kind: wit.ValType, resources: Resources) -> Reader:
    """The reader of a type. Raises LaunchError for types of the component model that WIT 0.2 lacks."""
    if type(kind) in NUMBERS:
        return _number(NUMBERS[type(kind)][1])
    match kind:
        case wit.String():
            return _text
        case wit.ListType():
            return _list(kind.element, resources)
        case wit.TupleType():
            return _record([reader(element, resources) for element in kind.elements], CELL_BYTES, CONTENT)
        case wit.RecordType():
            return _record([reader(field, resources) for _, field in kind.fields], FIELD_BYTES, FIELD_CONTENT)
        case wit.VariantType():
            return _variant((name, reader(case, resources) if case else None) for name, case in kind.cases)
        case wit.EnumType():
            return _text
        case wit.OptionType():
            return _option(reader(kind.payload, resources))
        case wit.ResultType():
            return _result(_optional(kind.ok, resources), _optional(kind.err, resources))
        case wit.FlagsType():
            return _flags
        case wit.OwnType():
            return resources.take
        case wit.BorrowType():
            return resources.read
        case _:
            raise LaunchError(
                f"component: it uses {type(kind).__name__}, which this engine does not know",
                hint="build it for WASI 0.2 (wasm32-wasip2)",
            )


def _optional(kind: wit.ValType | None, resources: Resources) -> Reader:
    return _nothing if kind is None else reader(kind, resources)


def _nothing(memory: bytes, place: int, context: int) -> None:
    return None


def _text(memory: bytes, place: int, context: int) -> str:
    count, pointer = PAIR.unpack_from(memory, place)
    return string_at(pointer, count).decode()


def _number(code: str) -> Reader:
    unpack = Struct("<" + code).unpack_from

    def read(memory: bytes, place: int, context: int) -> Any:
        return unpack(memory, place)[0]

    return read


def _list(element: wit.ValType, resources: Resources) -> Reader:
    if isinstance(element, wit.U8):
        return _octets
    if type(element) in NUMBERS:
        return _numbers(NUMBERS[type(element)][1])
    read_element = reader(element, resources)

    def read(memory: bytes, place: int, context: int) -> list[Any]:
        count, pointer = PAIR.unpack_from(memory, place)
        cells = string_at(pointer, count * CELL_BYTES) if count else b""
        return [read_element(cells, at, context) for at in range(CONTENT, len(cells), CELL_BYTES)]

    return read


def _octets(memory: bytes, place: int, context: int) -> bytes:
    count, pointer = PAIR.unpack_from(memory, place)
    return string_at(pointer, count * CELL_BYTES)[CONTENT::CELL_BYTES] if count else b""


def _numbers(code: str) -> Reader:
    first, step = strides(code)

    def read(memory: bytes, place: int, context: int) -> list[Any]:
        count, pointer = PAIR.unpack_from(memory, place)
        if not count:
            return []
        cells: Any = memoryview(string_at(pointer, count * CELL_BYTES))
        return cells.cast(code)[first::step].tolist()

    return read


def _record(readers: list[Reader], entry_bytes: int, first: int) -> Reader:
    placed = [(first + number * entry_bytes, read_field) for number, read_field in enumerate(readers)]
    size_bytes = len(readers) * entry_bytes

    def read(memory: bytes, place: int, context: int) -> tuple[Any, ...]:
        _, pointer = PAIR.unpack_from(memory, place)
        entries = string_at(pointer, size_bytes)
        return tuple([read_field(entries, at, context) for at, read_field in placed])

    return read


def _variant(cases: Iterable[tuple[str, Reader | None]]) -> Reader:
    readers = dict(cases)

    def read(memory: bytes, place: int, context: int) -> tuple[str, Any]:
        name = _text(memory, place, context)
        read_case = readers[name]
        return name, None if read_case is None else read_case(_cell(memory, place + 16), CONTENT, context)

    return read


def _option(read_value: Reader) -> Reader:
    def read(memory: bytes, place: int, context: int) -> Any:
        (pointer,) = POINTER.unpack_from(memory, place)
        return read_value(string_at(pointer, CELL_BYTES), CONTENT, context) if pointer else None

    return read


def _result(read_ok: Reader, read_error: Reader) -> Reader:
    def read(memory: bytes, place: int, context: int) -> tuple[bool, Any]:
        is_ok = memory[place] != 0
        (pointer,) = POINTER.unpack_from(memory, place + 8)
        read_value = read_ok if is_ok else read_error
        return is_ok, read_value(string_at(pointer, CELL_BYTES), CONTENT, context) if pointer else None

    return read


def _flags(memory: bytes, place: int, context: int) -> frozenset[str]:
    count, pointer = PAIR.unpack_from(memory, place)
    names = string_at(pointer, count * PAIR.size) if count else b""
    return frozenset(_text(names, at, context) for at in range(0, len(names), PAIR.size))


def _cell(memory: bytes, place: int) -> bytes:
    (pointer,) = POINTER.unpack_from(memory, place)
    return string_at(pointer, CELL_BYTES)
