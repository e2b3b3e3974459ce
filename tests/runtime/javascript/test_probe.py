"""Node in the walls tries what is forbidden, and the doctor judges it."""

import pytest

from pie_mlx.runtime.doctor.node import NodeFacts, judged, node_facts
from pie_mlx.runtime.sandbox.probe import SandboxReport
from tests.runtime.sandbox.conftest import complete_walls, walls  # noqa: F401 - fixtures


@pytest.mark.usefixtures("complete_walls")
def test_node_is_stopped_where_programs_in_python_are():
    status, message, hint = judged(node_facts())
    assert (status, hint) == ("ok", "")
    assert message.endswith("tried and stopped: reading files, writing files, network, starting processes")


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
    found = judged(NodeFacts("24.1.0", walls, problem="none"))
    assert found[0] == status
    assert says in found[1]
