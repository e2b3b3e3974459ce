"""Names that are never bound. Nothing is executed."""

import ast
import builtins
from collections.abc import Iterator, Sequence

from pie_mlx.runtime.check.scopes import Scope
from pie_mlx.runtime.program.findings import nearest

_OF_MODULES = frozenset({"__builtins__", "__doc__", "__file__", "__loader__", "__name__", "__package__", "__spec__"})
_MAKERS = frozenset({"NameError", "exec", "globals", "locals", "vars"})
"""A program that uses these may bind any name, or expects that one is missing."""


def undefined_names(tree: ast.Module, all_scopes: Sequence[Scope]) -> Iterator[tuple[int, str]]:
    """Line and message for each use, with a suggestion."""
    if any(_may_bind_anything(node) for node in ast.walk(tree)):
        return
    for scope in all_scopes:
        for node in scope.nodes:
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and _is_unbound(node.id, scope):
                yield node.lineno, f"'{node.id}' is not defined{nearest(node.id, scope.bound())}"


def _is_unbound(name: str, scope: Scope) -> bool:
    return scope.is_builtin(name) and not hasattr(builtins, name) and name not in _OF_MODULES


def _may_bind_anything(node: ast.AST) -> bool:
    # From Python 3.12 on, type parameters have a scope of their own.
    return (isinstance(node, ast.Name) and node.id in _MAKERS) or bool(getattr(node, "type_params", ()))
