"""Components are compiled once, and their compiled forms make room for others."""

import os

import pytest

from pie_mlx.errors import LaunchError
from pie_mlx.runtime.worker.compiled import cache
from pie_mlx.runtime.worker.compiled.cache import CompiledComponents
from tests.wasm.components import component, wasm

ECHO, OTHER = component(), component(answer="other")


@pytest.fixture
def file(tmp_path):
    """Writes a component and answers its path."""

    def write(text, name="main.wasm"):
        path = tmp_path / name
        path.write_bytes(wasm(text))
        return path

    return write


def test_components_are_compiled_once_for_all_engines(tmp_path, file, monkeypatch):
    path, directory = file(ECHO), tmp_path / "compiled"
    first, facts = CompiledComponents(directory).get(path)
    assert (facts.runs, facts.handles, facts.refused) == (True, False, [])
    assert directory.stat().st_mode & 0o777 == 0o700
    monkeypatch.setattr(cache, "compile_component", None)
    assert CompiledComponents(directory).get(path)[0] == first


def test_the_oldest_compiled_forms_make_room(tmp_path, file, monkeypatch):
    monkeypatch.setattr(cache, "KEPT_BYTES", 1)
    components = CompiledComponents(tmp_path / "compiled")
    old, _ = components.get(file(ECHO))
    new, _ = components.get(file(OTHER, "other.wasm"))
    assert not os.path.exists(old.file)
    assert os.path.exists(new.file)


def test_without_wasmtime_the_extra_is_named(tmp_path, file, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(LaunchError) as raised:
        CompiledComponents(tmp_path).get(file(ECHO))
    assert raised.value.hint == "pip install 'pie-mlx[wasm]'"


def test_a_changed_component_is_not_launched_as_it_was(tmp_path, file):
    components, path = CompiledComponents(tmp_path / "compiled"), file(ECHO)
    components.get(path)
    path.write_bytes(wasm(OTHER))
    with pytest.raises(LaunchError, match="it was changed while it was launched"):
        components.known(path)
