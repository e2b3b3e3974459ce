"""What is exported, and what importing it loads."""

import subprocess
import sys
from importlib import import_module

import pytest

import inferlet
import inferlet.sync
import pie_mlx.errors
from pie_mlx.errors import EngineStoppedError

LOADED = """
import sys, inferlet
for name in inferlet.__all__:
    getattr(inferlet, name)
print(*{name.split(".")[0] for name in sys.modules}, *(name for name in sys.modules if name.startswith("pie_mlx")))
"""
HEAVY = {"mlx", "mlx_lm", "numpy", "transformers", "jinja2", "torch", "pydantic", "asyncio", "llguidance"}
ROOMS = {"engine", "metal", "runtime", "server", "client", "cli", "tui"}


def test_everything_exported_is_importable() -> None:
    assert [name for name in inferlet.__all__ if not hasattr(inferlet, name)] == []
    assert sorted(inferlet.__all__) == inferlet.__all__


def test_everything_public_is_exported() -> None:
    public = {
        name
        for name, value in vars(inferlet).items()
        if getattr(value, "__module__", "").startswith(("inferlet", "pie_mlx"))
    }
    assert {name for name in public if not name.startswith("_")} <= set(inferlet.__all__)


def test_importing_the_sdk_loads_nothing_heavy() -> None:
    done = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert loaded & HEAVY == set()
    assert loaded & {f"pie_mlx.{room}" for room in ROOMS} == set()


PIE_RUN = "run it with `pie run"


@pytest.mark.parametrize(
    "call",
    [
        "inferlet.Context('pie-tiny')",
        "inferlet.Model.load('pie-tiny')",
        "inferlet.runtime.models()",
        "inferlet.sync.Context('pie-tiny')",
        "inferlet.sync.runtime.models()",
    ],
)
def test_a_call_outside_of_an_engine_says_how_to_run_the_program(call: str) -> None:
    with pytest.raises(EngineStoppedError) as refused:
        eval(call, {"inferlet": inferlet})
    assert refused.value.hint.startswith(PIE_RUN)


def test_the_errors_of_the_package_are_those_of_the_engine() -> None:
    assert inferlet.errors.PieError is pie_mlx.errors.PieError
    assert issubclass(inferlet.errors.ContextReleasedError, inferlet.errors.PieError)


def test_pie_mlx_sdk_is_another_name_of_every_module() -> None:
    assert import_module("pie_mlx.sdk") is inferlet
    assert import_module("pie_mlx.sdk.sync.context") is import_module("inferlet.sync.context")
