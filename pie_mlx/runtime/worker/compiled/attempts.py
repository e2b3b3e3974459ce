"""The process that `probe_wasmtime` starts: confined as the workers of components are, it tries what is forbidden."""

from collections.abc import Sequence
from pathlib import Path

import wasmtime

from pie_mlx.errors import PieError
from pie_mlx.runtime.sandbox.attempts import report
from pie_mlx.runtime.sandbox.interpreter import interpreter_paths
from pie_mlx.runtime.sandbox.policy import Policy
from pie_mlx.wasm.body import compiled, run_component

_ECHO = """
(component
  (core module $Main
    (memory (export "memory") 1)
    (func (export "realloc") (param i32 i32 i32 i32) (result i32) (i32.const 1024))
    (func (export "run") (param $place i32) (param $length i32) (result i32)
      (i32.store (i32.const 20) (local.get $place))
      (i32.store (i32.const 24) (local.get $length))
      (i32.const 16)))
  (core instance $main (instantiate $Main))
  (func $run (param "input" string) (result (result string (error string)))
    (canon lift (core func $main "run") (memory $main "memory") (realloc (func $main "realloc"))))
  (instance $exported (export "run" (func $run)))
  (export "pie:probe/run" (instance $exported)))
"""
"""Returns its input."""


def main(arguments: Sequence[str]) -> None:
    """`arguments`: a file that must be closed, and a directory that must be open. Prints the findings."""
    secret, own = arguments
    wasm = bytes(wasmtime.wat2wasm(_ECHO))
    report(Policy(interpreter_paths(), (own,), compiles=True), secret, lambda: _broken(wasm, Path(own, "code")))


def _broken(wasm: bytes, file: Path) -> str:
    """Why a component cannot be compiled and run, "" if it can."""
    try:
        _, code = compiled(wasm)
        file.write_bytes(code)
        return "" if run_component(str(file), "{}") == "{}" else "a component returned something else"
    except (PieError, OSError, wasmtime.WasmtimeError) as error:
        return str(error)
