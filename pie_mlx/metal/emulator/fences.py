"""Fence discipline: in a traced step, the kernels that touch one pool must form a chain of data dependences."""

# MLX's stubs leave variable arguments untyped.
# pyright: reportUnknownMemberType=false

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import mlx.core as mx

from pie_mlx.errors import PieError

_EDGE = re.compile(r'^\s*("[^"]*"|\d+) -> ("[^"]*"|\d+)', re.MULTILINE)
_NODE = re.compile(r'(\d+) \[label ="([^"]*)"')
_KERNEL_LABEL = "CustomKernel"


class FenceError(PieError):
    """Kernels on one pool have no order, or no output needs a launch."""


@dataclass(frozen=True, slots=True)
class Graph:
    """A traced graph: labels of its operations, and edges between arrays and operations."""

    labels: dict[str, str]
    edges: dict[str, set[str]]

    def kernels_of(self, array: str) -> set[str]:
        """Kernel nodes that take an array directly."""
        return {node for node in self.edges.get(f'"{array}"', set()) if self.labels.get(node) == _KERNEL_LABEL}

    def reachable(self, start: str) -> set[str]:
        """Everything downstream of a node."""
        seen: set[str] = set()
        waiting = [start]
        while waiting:
            for following in self.edges.get(waiting.pop(), set()) - seen:
                seen.add(following)
                waiting.append(following)
        return seen


def parse_graph(text: str) -> Graph:
    """Reads the text that `mx.export_to_dot` writes."""
    edges: dict[str, set[str]] = {}
    for source, target in _EDGE.findall(text):
        edges.setdefault(source, set()).add(target)
    return Graph(dict(_NODE.findall(text)), edges)


def traced_graph(outputs: list[mx.array], names: Mapping[str, mx.array]) -> Graph:
    """The graph below `outputs`, its inputs named. Call it while the graph is not evaluated yet."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "graph.dot"
        mx.export_to_dot(str(path), *outputs, **dict(names))
        return parse_graph(path.read_text())


def check_chain(graph: Graph, pool: str, launches: int) -> None:
    """Checks that data orders all kernels on `pool`, and that there are `launches` of them. Raises FenceError."""
    kernels = graph.kernels_of(pool)
    if len(kernels) != launches:
        raise FenceError(
            f"fences: {len(kernels)} of {launches} launches on {pool} are part of the step",
            hint="evaluate the layer's last fence with the outputs, or the write never runs",
        )
    after = {kernel: graph.reachable(kernel) & kernels for kernel in kernels}
    lengths = sorted(len(items) for items in after.values())
    if lengths != list(range(launches)):
        raise FenceError(
            f"fences: the kernels on {pool} are not a chain: followers {lengths}",
            hint="each kernel takes the fence of the one before it on the same pool",
        )
