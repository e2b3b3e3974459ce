"""Workers that are Node already, and wait for a program."""

from collections.abc import Callable
from dataclasses import dataclass, field

import msgspec

from pie_mlx.runtime.file_tree import remove_tree
from pie_mlx.runtime.javascript.command import node_command, node_paths
from pie_mlx.runtime.javascript.node import Node
from pie_mlx.runtime.worker.frames.messages import LaunchSpec, NodeStart, pack
from pie_mlx.runtime.worker.link import WorkerLink


@dataclass(frozen=True, slots=True)
class Prepared:
    """An idle Node worker; its walls open nothing but its own `workspace`."""

    link: WorkerLink
    node: Node
    workspace: str


@dataclass(slots=True)
class NodeWorkers:
    """Belongs to the engine's loop. `fork` forks a worker, `empty_spec` has the limits and walls of any program."""

    fork: Callable[[], WorkerLink]
    empty_spec: Callable[[], LaunchSpec]
    idle: dict[int, Prepared] = field(default_factory=dict[int, Prepared])
    _taken: dict[str, Prepared] = field(default_factory=dict[str, Prepared])
    wanted: Node | None = None
    """The Node of the last launch: an engine without programs in JavaScript keeps none."""

    def refill(self, count: int) -> None:
        """Start workers until `count` are idle. Raises LaunchError."""
        while self.wanted is not None and len(self.idle) < count:
            spec = self.empty_spec()
            link = self.started(spec)
            self.idle[link.number] = Prepared(link, self.wanted, spec.workspace)

    def take(self, node: Node, *, prepared: bool) -> str | None:
        """The workspace of an idle worker, if a `prepared` one fits, which `taken` then gives; None without one."""
        self.wanted = node
        number = next((number for number, one in self.idle.items() if one.node == node), None)
        if number is None or not prepared:
            return None
        found = self.idle.pop(number)
        self._taken[found.workspace] = found
        return found.workspace

    def taken(self, spec: LaunchSpec) -> WorkerLink | None:
        """The worker that was taken for a launch in this workspace."""
        found = self._taken.pop(spec.workspace, None)
        return None if found is None else found.link

    def started(self, spec: LaunchSpec) -> WorkerLink:
        """A new worker that becomes Node in the walls of `spec`, with its program. Raises LaunchError."""
        assert self.wanted is not None, "`take` comes first"
        link = self.fork()
        command = node_command(self.wanted, spec.max_memory_bytes)
        readable = [*node_paths(self.wanted), *filter(None, spec.source.paths())]
        link.send(pack(NodeStart(command, readable, msgspec.structs.replace(spec, node=None))))
        return link

    def exited(self, number: int) -> None:
        """An idle worker has exited."""
        found = self.idle.pop(number, None)
        if found is not None:
            found.link.close()
            remove_tree(found.workspace)
