"""Arrows between modules of the JavaScript SDK point down."""

import re
from graphlib import TopologicalSorter

from tools.javascript.declarations import sources
from tools.javascript.files import SDK

_IMPORT = re.compile(r"^(?:import|export) [^;]*? from '(\..*?)';", re.DOTALL | re.MULTILINE)
ARROWS = {
    file.relative_to(SDK).as_posix(): {
        (file.parent / target).resolve() for target in _IMPORT.findall(file.read_text(encoding="utf-8"))
    }
    for file in sources()
}
LINK = (SDK.parent / "link" / "host.mjs").resolve()


def test_there_are_no_circles() -> None:
    graph = {(SDK / name).resolve(): targets for name, targets in ARROWS.items()}
    assert list(TopologicalSorter(graph).static_order())


def test_calls_and_their_checks_build_on_errors_alone() -> None:
    below = {(SDK / "errors.mjs").resolve(), LINK}
    for name, targets in ARROWS.items():
        if name.startswith("_calls/"):
            assert {target for target in targets if target.parent.name != "_calls"} <= below, name


def test_one_module_knows_the_link() -> None:
    assert [name for name, targets in ARROWS.items() if LINK in targets] == ["_calls/host.mjs"]
