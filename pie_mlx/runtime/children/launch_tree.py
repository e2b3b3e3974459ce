"""The tree of launches and its limits. Knows process ids only."""

from dataclasses import dataclass, field

from pie_mlx.errors import LaunchError


@dataclass(frozen=True, slots=True)
class LaunchLimits:
    """`depth` generations below a launch root, and at most `children` running descendants of it at once."""

    depth: int = 8
    children: int = 64


@dataclass(slots=True)
class _Node:
    parent: str | None
    root: str
    depth: int
    children: dict[str, None] = field(default_factory=dict[str, None])
    running: bool = True
    awaited: bool = True


@dataclass(slots=True)
class LaunchTree:
    """Keeps a process while it runs, while a running parent may ask about it, and while a descendant runs."""

    limits: LaunchLimits = field(default_factory=LaunchLimits)
    _nodes: dict[str, _Node] = field(default_factory=dict[str, _Node])
    _running: dict[str, int] = field(default_factory=dict[str, int])
    """Running descendants of each launch root."""

    def __contains__(self, process: str) -> bool:
        return process in self._nodes

    def add_process(self, process: str, parent: str | None = None) -> None:
        """Add a process. Raises LaunchError if its parent has ended or a limit is reached."""
        if parent is None:
            self._nodes[process] = _Node(None, process, 0)
            self._running[process] = 0
            return
        above = self._nodes.get(parent)
        if above is None or not above.running:
            raise LaunchError(f"launch: process {parent} has ended", hint="launch children while the parent runs")
        self._check_limits(above)
        self._nodes[process] = _Node(parent, above.root, above.depth + 1)
        above.children[process] = None
        self._running[above.root] += 1

    def end(self, process: str) -> list[str]:
        """Mark a process as ended; returns the processes this removes."""
        node = self._nodes[process]
        node.running = False
        if node.parent is not None:
            self._running[node.root] -= 1
        forgotten = [gone for child in list(node.children) for gone in self._prune(child)]
        return forgotten + (self._prune(process) if process in self._nodes else [])

    def forget(self, process: str) -> list[str]:
        """The parent of a process asks no more about it; returns the processes this removes."""
        node = self._nodes.get(process)
        if node is None:
            return []
        node.awaited = False
        return self._prune(process)

    def is_child(self, process: str, parent: str) -> bool:
        """Whether `parent` launched `process` and may ask about it."""
        node = self._nodes.get(process)
        return node is not None and node.parent == parent and node.awaited

    def is_running(self, process: str) -> bool:
        """Whether the tree has the process, and it has not ended."""
        return process in self._nodes and self._nodes[process].running

    def parent(self, process: str) -> str | None:
        """The process that launched this one; None for a root or an unknown one."""
        return self._nodes[process].parent if process in self._nodes else None

    def ancestors(self, process: str) -> list[str]:
        """The process itself, its parent, and so on."""
        found: list[str] = []
        current: str | None = process
        while current is not None and current in self._nodes:
            found.append(current)
            current = self._nodes[current].parent
        return found

    def descendants(self, process: str) -> list[str]:
        """The running descendants, children before grandchildren."""
        waiting = list(self._nodes[process].children) if process in self._nodes else []
        found: list[str] = []
        for current in waiting:
            node = self._nodes[current]
            waiting.extend(node.children)
            if node.running:
                found.append(current)
        return found

    def check_integrity(self) -> None:
        """Raises RuntimeError if the tree is inconsistent."""
        for name, node in self._nodes.items():
            if node.parent is not None and name not in self._nodes[node.parent].children:
                raise RuntimeError(f"launch tree: {name} is not among the children of its parent")
            if not (node.running or node.children or self._is_asked_about(node)):
                raise RuntimeError(f"launch tree: {name} should have been removed")
        for root, count in self._running.items():
            if count != len(self.descendants(root)):
                raise RuntimeError(f"launch tree: counted {count} descendants of {root}")

    def _check_limits(self, above: _Node) -> None:
        if above.depth >= self.limits.depth:
            raise LaunchError(
                f"launch: already {above.depth} generations deep, max_launch_depth is {self.limits.depth}",
                hint="launch from a program further up, or raise [runtime] max_launch_depth",
            )
        if self._running[above.root] >= self.limits.children:
            raise LaunchError(
                f"launch: already {self._running[above.root]} children running, max_children is {self.limits.children}",
                hint="await one first, or raise [runtime] max_children",
            )

    def _is_asked_about(self, node: _Node) -> bool:
        return node.awaited and node.parent is not None and self._nodes[node.parent].running

    def _prune(self, process: str) -> list[str]:
        """Remove a process that is no longer needed, and then each ancestor that is not."""
        forgotten: list[str] = []
        current: str | None = process
        while current is not None:
            node = self._nodes[current]
            if node.running or node.children or self._is_asked_about(node):
                break
            del self._nodes[current]
            self._running.pop(current, None)
            if node.parent is not None:
                del self._nodes[node.parent].children[current]
            forgotten.append(current)
            current = node.parent
        return forgotten
