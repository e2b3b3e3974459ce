"""A JavaScript program as Node gets it: copies of its files, unless they are many, and its modules without types."""

import hashlib
import os
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pie_mlx import __version__
from pie_mlx.runtime.javascript.node import Node, find_node
from pie_mlx.runtime.program.program import Program

COPIED_FILES, COPIED_BYTES = 64, 1 << 20
"""A program with more starts in a worker of its own, which reads the files where they are."""
_LIBRARIES = "node_modules"
_TYPED = (".ts", ".mts")
_DECLARATIONS = (".d.ts", ".d.mts")
_TYPED_FILES, _TYPED_BYTES = 256, 1 << 20
"""A program with more TypeScript has its types stripped at every launch."""


@dataclass(frozen=True, slots=True)
class NodeProgram:
    """`main_file` and the keys of `files` are paths in `home`. `types_key` names its TypeScript; "" for none."""

    node: Node
    home: str
    main_file: str
    files: Mapping[str, bytes] | None
    types_key: str


def node_program(program: Program) -> NodeProgram:
    """Reads its files. Raises LaunchError without a Node, OSError."""
    node, main = find_node(), program.main_file.resolve()
    home = program.directory.resolve() if program.directory else main.parent
    names = _names(home) if program.directory else [main.name]
    files = None if program.dependencies else _copies(home, names)
    key = _types_key(node, home, [name for name in names or [] if name.endswith(_TYPED)])
    return NodeProgram(node, str(home), os.path.relpath(main, home), files, key if names is not None else "")


def _names(home: Path) -> list[str] | None:
    """The files below it, without hidden ones; None if they are too many, or if it has libraries."""
    names: list[str] = []
    for folder, folders, files in os.walk(home):
        if _LIBRARIES in folders:
            return None
        folders[:] = sorted(name for name in folders if not name.startswith((".", "__pycache__")))
        names += [os.path.relpath(os.path.join(folder, name), home) for name in files if not name.startswith(".")]
        if len(names) > _TYPED_FILES:
            return None
    return sorted(names)


def _copies(home: Path, names: list[str] | None) -> dict[str, bytes] | None:
    if names is None or len(names) > COPIED_FILES:
        return None
    paths = [home / name for name in names]
    if sum(path.stat().st_size for path in paths) > COPIED_BYTES:
        return None
    return {name: path.read_bytes() for name, path in zip(names, paths, strict=True) if path.is_file()}


def _types_key(node: Node, home: Path, names: list[str]) -> str:
    """Names all TypeScript of the program: so one with forged text of a module affects no other program."""
    if not names or sum((home / name).stat().st_size for name in names) > _TYPED_BYTES:
        return ""
    found = hashlib.sha256(f"{__version__} {node.version}".encode())
    for name in names:
        data = (home / name).read_bytes()
        found.update(f"\0{len(name)} {len(data)} {name}\0".encode() + data)
    return found.hexdigest()


@dataclass(slots=True)
class StrippedTypes:
    """Modules without their types, of the programs that were launched last. Belongs to one loop."""

    limit_bytes: int = 16 << 20
    _held: "OrderedDict[str, dict[str, str]]" = field(default_factory=OrderedDict[str, dict[str, str]])
    _held_bytes: int = 0

    def get(self, key: str) -> dict[str, str] | None:
        """The modules of a program, by path; None if they have to be stripped."""
        if key in self._held:
            self._held.move_to_end(key)
        return self._held.get(key)

    def put(self, key: str, texts: dict[str, str]) -> None:
        """Keep what a worker has stripped before it ran the program; the first answer counts."""
        if not key or key in self._held:
            return
        self._held[key] = texts
        self._held_bytes += _size_bytes(texts)
        while self._held_bytes > self.limit_bytes:
            self._held_bytes -= _size_bytes(self._held.popitem(last=False)[1])


def _size_bytes(texts: Mapping[str, str]) -> int:
    return sum(len(name) + len(text) for name, text in texts.items())


def dependency_mains(program: Program) -> Iterator[tuple[str, str]]:
    """The main files of the programs that it requires, by name."""
    for name, one in program.dependencies.items():
        yield name, str(one.main_file.resolve())
