"""What is told from the main file of a program before anything of it runs."""

import ast

import msgspec

from pie_mlx.runtime.manifest import HANDLER
from pie_mlx.runtime.style import Style, has_main_guard, style_of


class SourceFacts(msgspec.Struct, frozen=True):
    """`style` is None where there is nothing to run, and where the file only answers requests, which `handles` says.

    `guarded`: something stands under `if __name__ == "__main__"`.
    """

    style: Style | None
    handles: bool
    guarded: bool


def facts_of(tree: ast.Module, entry: str) -> SourceFacts:
    names = _bound_names(tree)
    handles = HANDLER in names
    style = None if handles and entry not in names else style_of(tree, entry, names)
    return SourceFacts(style, handles, has_main_guard(tree))


def _bound_names(tree: ast.Module) -> set[str]:
    """Names that module-level statements bind, wherever they are nested outside of functions and classes."""
    names: set[str] = set()
    waiting: list[ast.AST] = list(tree.body)
    while waiting:
        node = waiting.pop()
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                names.add(name)
                continue
            case ast.alias(name=name, asname=alias):
                names.add(alias or name)
            case ast.Name(id=name, ctx=ast.Store()):
                names.add(name)
            case _:
                pass
        waiting.extend(ast.iter_child_nodes(node))
    return names
