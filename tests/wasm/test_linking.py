"""What a component imports and exports decides whether it can run, before it does."""

import pytest

from pie_mlx.errors import LaunchError
from pie_mlx.wasm.body import compiled, deserialized
from pie_mlx.wasm.component import new_engine
from tests.wasm.components import component, wasm


@pytest.mark.parametrize(
    ("imports", "words"),
    [
        ('(import "pie:core/tensor" (instance (export "f" (func))))', "imports 'pie:core/tensor', which"),
        ('(import "pie:core/session@0.5.0" (instance (export "f" (func))))', "imports 'pie:core/session@0.5.0', which"),
        ('(import "pie-mlx:rules/rules@0.2.0" (instance (export "f" (func))))', "'pie-mlx:rules/rules@0.2.0', which"),
        ('(import "wasi:io/poll@0.3.0" (instance (export "f" (func))))', "imports 'wasi:io/poll@0.3.0', which"),
        ('(import "pie:core/session" (instance (export "shout" (func))))', "imports 'shout' of 'pie:core/session'"),
        ('(import "pie:core/session" (instance (export "send" (func))))', "passes 0 values to 'send'"),
        ('(import "helper" (func))', "imports 'helper', which"),
        ('(import "componentize-py-runtime" (core module))', "an interpreter that is not a part of it"),
    ],
)
def test_a_component_of_another_world_is_refused(imports, words):
    with pytest.raises(LaunchError, match=words):
        compiled(wasm(component(imports=imports)))


def test_a_component_that_exports_nothing_to_run_is_refused():
    with pytest.raises(LaunchError, match="exports neither 'pie:NAME/run' nor"):
        compiled(wasm("(component)"))


def test_of_several_problems_the_first_is_told():
    imports = "".join(f'(import "pie:core/{name}" (instance (export "f" (func))))' for name in ("one", "two"))
    with pytest.raises(LaunchError, match="imports 'pie:core/one', which this engine does not have, and 1 more"):
        compiled(wasm(component(imports=imports)))


def test_imports_that_are_refused_when_called_are_listed():
    imports = '(import "pie:core/media" (instance (export "f" (func))))'
    facts, _ = compiled(wasm(component(imports=imports)))
    assert (facts.runs, facts.refused) == (True, ["pie:core/media"])


@pytest.mark.parametrize("version", ["0.2.0", "0.2.4", "0.2.9"])
def test_any_wasi_of_the_second_preview_is_known(version):
    imports = f'(import "wasi:random/random@{version}" (instance (export "get-random-u64" (func (result u64)))))'
    assert compiled(wasm(component(imports=imports)))[0].runs


def test_code_of_another_compiler_is_refused(tmp_path):
    (tmp_path / "code").write_bytes(b"\x7fELF")
    with pytest.raises(LaunchError, match="its compiled form"):
        deserialized(new_engine(), str(tmp_path / "code"))


def test_what_is_no_component_is_refused():
    with pytest.raises(LaunchError, match="component: failed to parse"):
        compiled(b"\0asm\x0d\0\1\0broken")
