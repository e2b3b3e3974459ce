"""What runs programs in other languages tries what is forbidden, in the walls, and the doctor judges it."""

import sys

import pytest

from pie_mlx.runtime.doctor.languages import LanguageFacts, judged, node_facts, wasmtime_facts
from pie_mlx.runtime.sandbox.probe import SandboxReport
from tests.runtime.sandbox.conftest import complete_walls, walls  # noqa: F401 - fixtures


@pytest.mark.usefixtures("complete_walls")
@pytest.mark.parametrize("facts", [node_facts, wasmtime_facts])
def test_it_is_stopped_where_programs_in_python_are(facts):
    status, message, hint = judged(facts())
    assert (status, hint) == ("ok", "")
    assert message.endswith("tried and stopped: reading files, writing files, network, starting processes")


def test_without_wasmtime_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "wasmtime", None)
    told = "no components: running WebAssembly needs wasmtime, which is not installed"
    assert judged(wasmtime_facts()) == ("ok", told, "pip install 'pie-mlx[wasm]'")


@pytest.mark.parametrize(
    ("walls", "status", "says"),
    [
        (SandboxReport(("network",), (), True), "ok", "24.1.0: tried and stopped: network"),
        (SandboxReport((), ("network",), True, "an old kernel"), "warning", "not stopped: network (an old kernel)"),
        (SandboxReport((), (), False, "no memory"), "warning", "does not work in the sandbox: no memory"),
        (None, "ok", "no programs in JavaScript: none"),
    ],
)
def test_what_it_could_do_is_judged(walls, status, says):  # noqa: F811
    found = judged(LanguageFacts("programs in JavaScript", "24.1.0", walls, problem="none"))
    assert found[0] == status
    assert says in found[1]
