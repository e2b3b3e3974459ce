"""Python functions that components call, and functions of components that Python calls."""

import ctypes
from collections.abc import Callable
from ctypes import addressof, c_char, memmove, string_at
from typing import Any, TypeVar

from wasmtime import Store, WasmtimeError
from wasmtime import component as wit

from pie_mlx.errors import PieError, ProcessError
from pie_mlx.wasm.binding import library
from pie_mlx.wasm.binding.cells import CELL_BYTES, CONTENT
from pie_mlx.wasm.binding.readers import reader
from pie_mlx.wasm.binding.resources import Resources
from pie_mlx.wasm.binding.traps import trapped
from pie_mlx.wasm.binding.writers import WitError, writer

T = TypeVar("T")

Move = Callable[[int, int, int], None]
"""(store context, address of the arguments, address of the results): reads, calls and writes."""

_STOPPED = b"the host ends the program"


class Calls:
    """Calls between one component and Python. `failure` is what a Python function raised through the component."""

    def __init__(self, resources: Resources) -> None:
        self.failure: BaseException | None = None
        self._resources = resources
        self._callbacks: list[Any] = []

    def offer(self, instance: wit.LinkerInstance, name: str, kind: wit.FuncType, function: Callable[..., Any]) -> None:
        """Let components call `function`. If its result type has errors of text, a PieError becomes one; whatever else
        it raises ends the component."""
        callback = library.FUNCTION_CALLBACK(self._callback(kind, function))
        self._callbacks.append(callback)  # wasmtime keeps no reference
        encoded = name.encode()
        pointer = ctypes.cast(instance.ptr(), ctypes.c_void_p)
        error = library.add_function(pointer, encoded, len(encoded), callback, None, None)
        if error:
            raise ProcessError(f"component: {name}: {library.taken_message(error)}", hint="report it")

    def drop(self, store: object, number: int) -> None:
        """A destructor of resources, which wasmtime calls."""
        try:
            self._resources.drop(number)
        except BaseException as error:  # must not return into wasmtime's code
            self.failure = self.failure or error

    def run(self, store: Store, function: wit.Func, *arguments: Any) -> Any:
        """Call a function of the component. Raises what a Python function raised through it; ProcessError for a trap,
        with the component's stack."""
        kind, context = function.type(store), library.context_of(store)
        writers = [writer(parameter, self._resources) for _, parameter in kind.params]
        cells = b"".join(write(value, context) for write, value in zip(writers, arguments, strict=True))
        passed, answer = (c_char * max(len(cells), 1)).from_buffer_copy(cells or b"\0"), (c_char * CELL_BYTES)()
        count = 0 if kind.result is None else 1
        error = library.call_function(
            library.function_of(function), context, addressof(passed), len(writers), addressof(answer), count
        )
        for place in range(0, len(cells), CELL_BYTES):
            library.value_delete(addressof(passed) + place)
        if error:
            raise self._failed(library.taken_message(error))
        if kind.result is None:
            return None
        value = reader(kind.result, self._resources)(bytes(answer), CONTENT, context)
        library.value_delete(addressof(answer))
        return value

    def guard(self, run: Callable[[], T]) -> T:
        """What `run` answers, which runs WebAssembly through wasmtime's own bindings. Raises as `run`."""
        try:
            return run()
        except WasmtimeError as error:
            raise self._failed(str(error)) from None

    def _failed(self, trap: str) -> BaseException:
        failure, self.failure = self.failure, None
        return failure or trapped(trap)

    def _callback(self, kind: wit.FuncType, function: Callable[..., Any]) -> Callable[..., int]:
        """What wasmtime calls. Converters are made with the first call: components import much more than they use."""
        move: Move | None = None

        def called(
            data: int, context: int, kind_: int, arguments: int, count: int, results: int, result_count: int
        ) -> int:
            nonlocal move
            try:
                if move is None:
                    move = self._move(kind, function)
                move(context, arguments, results)
                return 0
            except BaseException as error:  # must not return into wasmtime's code
                self.failure = self.failure or error
                return library.error_new(_STOPPED)

        return called

    def _move(self, kind: wit.FuncType, function: Callable[..., Any]) -> Move:
        readers = [reader(parameter, self._resources) for _, parameter in kind.params]
        write = None if kind.result is None else writer(kind.result, self._resources)
        attempt = _attempt(function, kind.result)
        size_bytes = CELL_BYTES * len(readers)
        placed = [(read, CONTENT + number * CELL_BYTES) for number, read in enumerate(readers)]

        def move(context: int, arguments: int, results: int) -> None:
            memory = string_at(arguments, size_bytes) if size_bytes else b""
            value = attempt(*[read(memory, place, context) for read, place in placed])
            if write is not None:
                memmove(results, write(value, context), CELL_BYTES)

        return move


def _attempt(function: Callable[..., Any], result: wit.ValType | None) -> Callable[..., Any]:
    if not isinstance(result, wit.ResultType):
        return function
    has_text = isinstance(result.err, wit.String)

    def attempt(*arguments: Any) -> Any:
        try:
            return function(*arguments)
        except WitError as error:
            return error
        except PieError as error:
            if not has_text:
                raise
            return WitError(error.message)

    return attempt
