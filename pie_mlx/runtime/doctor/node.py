"""Whether programs in JavaScript can run here, and whether the sandbox holds them."""

from dataclasses import dataclass
from typing import Literal

from pie_mlx.runtime.javascript.probe import probe_node
from pie_mlx.runtime.sandbox.probe import SandboxReport

Judged = tuple[Literal["ok", "warning", "error"], str, str]
"""A status, what was found, and what to do about it."""


@dataclass(frozen=True, slots=True)
class NodeFacts:
    """The version of Node, "" without one, and what it attempted in its walls; or why it cannot be used."""

    version: str
    walls: SandboxReport | None = None
    problem: str = ""
    hint: str = ""


def node_facts() -> NodeFacts:
    """Tries Node in the sandbox."""
    from pie_mlx.errors import LaunchError
    from pie_mlx.runtime.javascript.node import find_node

    try:
        node = find_node()
    except LaunchError as error:
        return NodeFacts("", problem=error.message, hint=error.hint)
    return NodeFacts(node.version, probe_node())


def judged(node: NodeFacts) -> Judged:
    """Without Node there are programs in Python, so its absence is no warning."""
    if node.walls is None:
        return "ok", f"no programs in JavaScript: {node.problem}", node.hint
    if not node.walls.open and not node.walls.allowed_works:
        return "warning", f"{node.version} does not work in the sandbox: {node.walls.reason}", "report this"
    if node.walls.open:
        reason = f" ({node.walls.reason})" if node.walls.reason else ""
        message = f"{node.version}: tried and not stopped: {', '.join(node.walls.open)}{reason}"
        return "warning", message, "run only programs you trust, or use another system"
    return "ok", f"{node.version}: tried and stopped: {', '.join(node.walls.stopped)}", ""
