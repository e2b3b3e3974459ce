"""The objects behind a component's resources."""

import ctypes
from struct import Struct
from typing import Any, cast

from pie_mlx.errors import InvalidArgumentError
from pie_mlx.wasm.binding import library

_POINTER = Struct("<Q")
_out = ctypes.c_void_p()
_OUT = ctypes.byref(_out)


class Resources:
    """Objects by the numbers that a component holds for them, and a kind number for each of their classes."""

    def __init__(self) -> None:
        self._objects: list[Any] = []
        self._free: list[int] = []
        self._kinds: dict[type, int] = {}

    def kind_of(self, resource: type) -> int:
        """The number that tells wasmtime this class from others."""
        return self._kinds.setdefault(resource, len(self._kinds))

    def give(self, value: Any, context: int) -> int:
        """A pointer to a new resource with this object behind it, which the component owns."""
        number = self._free.pop() if self._free else len(self._objects)
        if number == len(self._objects):
            self._objects.append(value)
        else:
            self._objects[number] = value
        held = library.host_resource_new(True, number, self._kinds[type(value)])
        error = library.resource_from_host(context, held, _OUT)
        library.host_resource_delete(held)
        _check(error)
        return cast("int", _out.value)

    def read(self, memory: bytes, place: int, context: int) -> Any:
        """The object of a resource that the component lends."""
        return self._objects[self._number(memory, place, context)]

    def take(self, memory: bytes, place: int, context: int) -> Any:
        """The object of a resource that the component gives away."""
        number = self._number(memory, place, context)
        value = self._objects[number]
        self._forget(number)
        return value

    def drop(self, number: int) -> None:
        """The component has dropped a resource. Without another holder its object is gone, with what it held."""
        self._forget(number)

    def _number(self, memory: bytes, place: int, context: int) -> int:
        (pointer,) = _POINTER.unpack_from(memory, place)
        _check(library.resource_to_host(context, pointer, _OUT))
        number: int = library.host_resource_number(_out)
        library.host_resource_delete(_out)
        return number

    def _forget(self, number: int) -> None:
        self._objects[number] = None
        self._free.append(number)


def _check(error: int | None) -> None:
    if error:
        raise InvalidArgumentError(f"component: {library.taken_message(error)}", hint="it passed a resource of another")
