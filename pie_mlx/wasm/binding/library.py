"""The functions of wasmtime's C library that values need.

They are called without giving up the interpreter's lock, because each takes less than a microsecond. None of them runs
WebAssembly.
"""

import ctypes
from collections.abc import Callable
from ctypes import c_bool, c_char_p, c_size_t, c_uint32, c_void_p
from typing import Any

from wasmtime import Store
from wasmtime import _bindings as bindings  # pyright: ignore[reportPrivateUsage]
from wasmtime import component as wit

_POINTERS = ctypes.POINTER(c_void_p)
_handle: int = bindings.dll._handle  # pyright: ignore[reportPrivateImportUsage]
_quick = ctypes.PyDLL("wasmtime", handle=_handle)


def _function(name: str, result: Any, *arguments: Any) -> Callable[..., Any]:
    found = _quick[name]
    found.restype, found.argtypes = result, arguments
    return found


resource_to_host = _function("wasmtime_component_resource_any_to_host", c_void_p, c_void_p, c_void_p, _POINTERS)
resource_from_host = _function("wasmtime_component_resource_host_to_any", c_void_p, c_void_p, c_void_p, _POINTERS)
host_resource_new = _function("wasmtime_component_resource_host_new", c_void_p, c_bool, c_uint32, c_uint32)
host_resource_number = _function("wasmtime_component_resource_host_rep", c_uint32, c_void_p)
host_resource_delete = _function("wasmtime_component_resource_host_delete", None, c_void_p)

bytes_new = _function("wasm_byte_vec_new", None, c_void_p, c_size_t, c_void_p)
list_new = _function("wasmtime_component_vallist_new_uninit", None, c_void_p, c_size_t)
record_new = _function("wasmtime_component_valrecord_new_uninit", None, c_void_p, c_size_t)
tuple_new = _function("wasmtime_component_valtuple_new_uninit", None, c_void_p, c_size_t)
flags_new = _function("wasmtime_component_valflags_new_uninit", None, c_void_p, c_size_t)
value_new = _function("wasmtime_component_val_new", c_void_p, c_void_p)
value_delete = _function("wasmtime_component_val_delete", None, c_void_p)

error_new = _function("wasmtime_error_new", c_void_p, c_char_p)
error_delete = _function("wasmtime_error_delete", None, c_void_p)
error_message = _function("wasmtime_error_message", None, c_void_p, c_void_p)
bytes_delete = _function("wasm_byte_vec_delete", None, c_void_p)

FUNCTION_CALLBACK = ctypes.CFUNCTYPE(c_size_t, c_void_p, c_void_p, c_void_p, c_void_p, c_size_t, c_void_p, c_size_t)
"""data, store context, type, arguments and their number, results and their number -> error or 0."""

_with_lock_released = ctypes.CDLL("wasmtime", handle=_handle)
call_function = _with_lock_released["wasmtime_component_func_call"]
call_function.restype = c_void_p
call_function.argtypes = (c_void_p, c_void_p, c_void_p, c_size_t, c_void_p, c_size_t)

add_function = _quick["wasmtime_component_linker_instance_add_func"]
add_function.restype = c_void_p
add_function.argtypes = (c_void_p, c_char_p, c_size_t, FUNCTION_CALLBACK, c_void_p, c_void_p)


def taken_message(error: int) -> str:
    """The text of an error, which is then gone."""
    vector = (ctypes.c_uint64 * 2)()
    error_message(error, ctypes.addressof(vector))
    error_delete(error)
    text = ctypes.string_at(vector[1], vector[0]).decode(errors="replace")
    bytes_delete(ctypes.addressof(vector))
    return text


def context_of(store: Store) -> int:
    """The address of a store's context."""
    return ctypes.cast(store._context(), c_void_p).value or 0  # pyright: ignore[reportPrivateUsage]


def function_of(function: wit.Func) -> Any:
    """A reference to an exported function."""
    return ctypes.byref(function._func)  # pyright: ignore[reportPrivateUsage]
