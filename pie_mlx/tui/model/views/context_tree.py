"""Contexts as a forest: forks below their source."""

import msgspec

from pie_mlx.tui.model.context import ContextState
from pie_mlx.tui.model.state import MonitorState
from pie_mlx.tui.model.views.forest import forest


class TreeRow(msgspec.Struct, frozen=True):
    """A context and the branches drawn before it. A context whose source is gone is a root."""

    context: ContextState
    branches: str


def context_tree(state: MonitorState) -> list[TreeRow]:
    """Parents before children, in order of creation. Works for any depth of forks."""
    contexts = forest(state.pool_contexts, lambda context: context.id, lambda context: context.parent)
    return [TreeRow(context, branches) for context, branches in contexts]
