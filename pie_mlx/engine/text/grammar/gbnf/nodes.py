"""What the right-hand side of a rule is made of. Nodes are compared by identity."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class Chars:
    """One character; `pattern` is a regular expression for it in Rust's syntax."""

    pattern: str


@dataclass(frozen=True, slots=True, eq=False)
class Sequence:
    parts: "tuple[Node, ...]"


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    options: "tuple[Node, ...]"


@dataclass(frozen=True, slots=True, eq=False)
class Repeat:
    """`node`, `least` to `most` times; no end where that is None."""

    node: "Node"
    least: int
    most: int | None


@dataclass(frozen=True, slots=True, eq=False)
class Reference:
    name: str


Node = Chars | Sequence | Choice | Repeat | Reference


def children(node: Node) -> "tuple[Node, ...]":
    match node:
        case Sequence(parts=parts) | Choice(options=parts):
            return parts
        case Repeat(node=inner):
            return (inner,)
        case _:
            return ()


def references(node: Node) -> set[str]:
    """The names of all rules in it."""
    if isinstance(node, Reference):
        return {node.name}
    return {name for child in children(node) for name in references(child)}
