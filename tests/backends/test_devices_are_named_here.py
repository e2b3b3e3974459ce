"""Which device computes is asked in one room."""

import ast
from pathlib import Path

import pytest

import pie_mlx

PACKAGE = Path(pie_mlx.__file__).parent
NAMES = {"DeviceType", "cpu", "default_device", "device_count", "gpu", "on_cpu", "set_default_device"}
"""Of MLX, or of ours in the past. `mx.metal` is asked whether it is there, and only for that."""
ROOMS = ("backends", "metal/emulator")
ALLOWED = {
    "metal/arrays.py": {"cpu"},  # rounds as the host does, for references of kernels, whichever device computes
}


def named_in(source: str) -> set[str]:
    """The names of devices that a module takes from `mx`, or imports."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Attribute(value=ast.Name(id="mx"), attr=name) if name in NAMES | {"metal"}:
                found.add(name)
            case ast.ImportFrom(names=names):
                found |= {alias.name for alias in names} & (NAMES - {"cpu"})
            case _:
                pass
    return found


@pytest.mark.parametrize(
    "source",
    [
        "if mx.default_device() == mx.gpu: pass",
        "with mx.stream(mx.cpu): pass",
        "mx.metal.is_available()",
        "from pie_mlx.metal.arrays import on_cpu",
    ],
)
def test_a_question_about_the_device_is_found(source: str) -> None:
    assert named_in(source)


def test_no_other_room_asks_which_device_computes() -> None:
    files = {path.relative_to(PACKAGE).as_posix(): path for path in PACKAGE.rglob("*.py")}
    asking = {
        name: found - ALLOWED.get(name, set())
        for name, path in files.items()
        if not name.startswith(ROOMS) and (found := named_in(path.read_text(encoding="utf-8")))
    }
    assert {name: found for name, found in asking.items() if found} == {}
