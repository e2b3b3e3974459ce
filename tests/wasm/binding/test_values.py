"""Values cross the border between Python and a component unchanged."""

import ctypes
import math
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from wasmtime import Store, _ffi
from wasmtime import component as wit

from pie_mlx.wasm.binding import cells
from pie_mlx.wasm.binding.functions import Calls
from pie_mlx.wasm.binding.resources import Resources
from pie_mlx.wasm.binding.writers import WitError
from pie_mlx.wasm.component import new_engine
from tests.wasm.components import component, wasm

ENGINE = new_engine()
MOVE = """
(func (export "run") (param i32 i32) (result i32)
  (call $source (i32.const 32))
  (call $sink (i32.load (i32.const 32)) (i32.load (i32.const 36)))
  (call $ok (i32.const 64) (i32.const 0)))
"""
WORDS = some.sampled_from(["alpha", "beta", "gamma", "delta-four"])


def moved(named, kind, values):
    """A list of values after a component has received it from one function and passed it to another."""
    types = "".join(f'(type $t{n} {text}) (export "t{n}" (type $n{n} (eq $t{n})))' for n, text in enumerate(named))
    functions = f'(export "source" (func (result (list {kind})))) (export "sink" (func (param "v" (list {kind}))))'
    text = component(
        MOVE,
        imports=f'(import "test:values/echo" (instance $host {types} {functions}))',
        calls={"source": ("host.source", "(param i32)"), "sink": ("host.sink", "(param i32 i32)")},
    )
    found = []
    offered = {"source": lambda: values, "sink": found.append}
    made, calls = wit.Component(ENGINE, wasm(text)), Calls(Resources())
    linker = wit.Linker(ENGINE)
    with linker.root() as root:
        for name, item in made.type.imports(ENGINE).items():
            with root.add_instance(name) as instance:
                for word, inner in item.ty.exports(ENGINE).items():
                    if isinstance(inner.ty, wit.FuncType):
                        calls.offer(instance, word, inner.ty, offered[word])
    store = Store(ENGINE)
    started = linker.instantiate(store, made)
    run = made.get_export_index("run", made.get_export_index("pie:test/run"))
    assert calls.run(store, started.get_func(store, run), "") == (True, "")
    return found[0]


def number(kind, low, high):
    return some.tuples(some.just([]), some.just(kind), some.just(some.integers(low, high)))


PLAIN = some.one_of(
    number("u8", 0, 2**8 - 1),
    number("s8", -(2**7), 2**7 - 1),
    number("u16", 0, 2**16 - 1),
    number("s16", -(2**15), 2**15 - 1),
    number("u32", 0, 2**32 - 1),
    number("s32", -(2**31), 2**31 - 1),
    number("u64", 0, 2**64 - 1),
    number("s64", -(2**63), 2**63 - 1),
    some.just(([], "bool", some.booleans())),
    some.just(([], "f32", some.floats(width=32, allow_nan=False))),
    some.just(([], "f64", some.floats(allow_nan=False))),
    some.just(([], "string", some.text())),
)


@some.composite
def wider(draw, inner):
    """A type around one or two others, and its values."""
    named, kind, values = draw(inner)
    shape = draw(some.sampled_from(["list", "option", "tuple", "record", "variant", "enum", "flags"]))
    match shape:
        case "list":
            kept = some.binary(max_size=9) if kind == "u8" else some.lists(values, max_size=3)
            return named, f"(list {kind})", kept
        case "option":
            # An option of an option without a value is None as well.
            if not kind.startswith("(option"):
                kind, values = f"(option {kind})", some.none() | values
            return named, kind, values
        case "tuple":
            return named, f"(tuple {kind} u8)", some.tuples(values, some.integers(0, 255))
        case "record":
            text, made = f'(record (field "a" u8) (field "b-c" {kind}))', some.tuples(some.integers(0, 255), values)
        case "variant":
            some_case = values.map(lambda value: ("some-case", value))
            text, made = f'(variant (case "some-case" {kind}) (case "empty"))', some_case | some.just(("empty", None))
        case "enum":
            text, made = '(enum "alpha" "beta" "gamma" "delta-four")', WORDS
        case "flags":
            text, made = '(flags "alpha" "beta" "gamma" "delta-four")', some.frozensets(WORDS)
    return [*named, text], f"$n{len(named)}", made


TYPES = some.recursive(PLAIN, wider, max_leaves=3)


@given(data=some.data())
@settings(max_examples=40)
def test_what_a_component_passes_on_is_what_it_got(data):
    named, kind, values = data.draw(TYPES)
    given_values = data.draw(some.binary(max_size=9) if kind == "u8" else some.lists(values, max_size=3))
    assert moved(named, kind, given_values) == given_values


@pytest.mark.parametrize(("value", "read"), [(7, (True, 7)), (WitError("no"), (False, "no"))])
def test_a_result_is_its_value_or_a_raised_error(value, read):
    assert moved([], "(result u8 (error string))", [value]) == [read]


def test_a_result_may_have_neither_value_nor_error():
    assert moved([], "(result)", [None, WitError(None)]) == [(True, None), (False, None)]


def test_not_a_number_stays_one():
    assert math.isnan(moved([], "f32", [math.nan])[0])


def test_a_row_of_logits_crosses_whole():
    row = bytes(range(256)) * 64
    assert moved([], "u8", row) == row


def test_cells_are_laid_out_as_wasmtime_has_them():
    assert ctypes.sizeof(_ffi.wasmtime_component_val_t) == cells.CELL_BYTES
    assert _ffi.wasmtime_component_val_t.of.offset == cells.CONTENT
    kinds = (cells.BOOL, cells.F64, cells.CHAR, cells.STRING, cells.FLAGS, cells.RESOURCE)
    names = ("BOOL", "F64", "CHAR", "STRING", "FLAGS", "RESOURCE")
    assert [getattr(_ffi, f"WASMTIME_COMPONENT_{name}").value for name in names] == list(kinds)


@pytest.mark.parametrize("value", [256, -1, "text"])
def test_a_value_that_does_not_fit_is_an_error_of_the_host(value):
    with pytest.raises((struct.error, OverflowError, TypeError)):
        moved([], "(tuple u8 u8)", [(value, 0)])
