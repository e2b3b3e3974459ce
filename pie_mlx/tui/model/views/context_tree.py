"""Contexts as a forest: forks below their source."""

import msgspec

from pie_mlx.tui.model.context import ContextState
from pie_mlx.tui.model.state import MonitorState


class TreeRow(msgspec.Struct, frozen=True):
    """A context and the branches drawn before it. A context whose source is gone is a root."""

    context: ContextState
    branches: str


def context_tree(state: MonitorState) -> list[TreeRow]:
    """Parents before children, in order of creation. Works for any depth of forks."""
    children: dict[int, list[ContextState]] = {}
    roots: list[ContextState] = []
    for context in state.contexts.values():
        living = context.parent in state.contexts and context.parent != context.id
        (children.setdefault(context.parent, []) if living else roots).append(context)
    rows: list[TreeRow] = []
    pending = [(root, "", "") for root in reversed(roots)]
    while pending:
        context, branches, below = pending.pop()
        rows.append(TreeRow(context, branches))
        forks = children.get(context.id, [])
        for place, fork in reversed(list(enumerate(forks, 1))):
            is_last = place == len(forks)
            pending.append((fork, below + ("└─ " if is_last else "├─ "), below + ("   " if is_last else "│  ")))
    return rows
