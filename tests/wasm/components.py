"""Components for tests, written as text.

`main` is a module whose function `run` gets the place and length of its input, and returns that of its result: a word
that is 0 for ok, a place and a length. `answer` at 64 is a text it may use.
"""

import functools
import textwrap

import wasmtime

_FRAME = """
(component
  {imports}
  (core module $Memory
    (memory (export "memory") 1)
    (global $free (mut i32) (i32.const 4096))
    (func (export "realloc") (param i32 i32) (param $align i32) (param $size i32) (result i32)
      (local $place i32)
      (local.set $place (i32.and
        (i32.add (global.get $free) (i32.sub (local.get $align) (i32.const 1)))
        (i32.sub (i32.const 0) (local.get $align))))
      (global.set $free (i32.add (local.get $place) (local.get $size)))
      (block $enough
        (br_if $enough (i32.le_u (global.get $free) (i32.mul (memory.size) (i32.const 65536))))
        (drop (memory.grow (i32.add (i32.shr_u (local.get $size) (i32.const 16)) (i32.const 1)))))
      (local.get $place)))
  (core instance $memory (instantiate $Memory))
  (alias core export $memory "memory" (core memory $m))
  (alias core export $memory "realloc" (core func $realloc))
  {lowered}
  (core module $Main
    (import "memory" "memory" (memory 1))
    {core_imports}
    (data (i32.const 64) "{answer}")
    (func $ok (param $place i32) (param $length i32) (result i32)
      (i32.store (i32.const 16) (i32.const 0))
      (i32.store (i32.const 20) (local.get $place))
      (i32.store (i32.const 24) (local.get $length))
      (i32.const 16))
    {main})
  (core instance $main (instantiate $Main (with "memory" (instance $memory)) {passed}))
  (func $run (param "input" string) (result (result string (error string)))
    (canon lift (core func $main "run") (memory $m) (realloc $realloc)))
  (instance $exported (export "run" (func $run)))
  (export "pie:test/run" (instance $exported)))
"""
ECHO = '(func (export "run") (param i32 i32) (result i32) (call $ok (local.get 0) (local.get 1)))'


def component(
    main: str = ECHO, *, imports: str = "", calls: dict[str, tuple[str, str]] | None = None, answer: str = ""
) -> str:
    """The text of a component.

    `calls` are the functions it calls, by the name that `main` uses: their instance and name, and their core type.
    """
    names = {name: path.partition(".") for name, (path, _) in (calls or {}).items()}
    return textwrap.dedent(_FRAME).format(
        imports=imports,
        lowered="\n".join(
            f'(core func ${name} (canon lower (func ${instance} "{function}") (memory $m) (realloc $realloc)))'
            for name, (instance, _, function) in names.items()
        ),
        core_imports="\n".join(
            f'(import "host" "{name}" (func ${name} {kind}))' for name, (_, kind) in (calls or {}).items()
        ),
        passed=f'(with "host" (instance {" ".join(f"""(export "{name}" (func ${name}))""" for name in names)}))'
        if names
        else "",
        main=main,
        answer=answer,
    )


@functools.cache
def wasm(text: str) -> bytes:
    """A component in binary form."""
    return bytes(wasmtime.wat2wasm(text))
