"""How a program is written, which decides what `import inferlet` gives it (3.1). Nothing of it is executed."""

import ast
from collections.abc import Iterator
from typing import Literal

import msgspec

from pie_mlx.runtime.program.manifest import HANDLER

SDK_ALIAS = "inferlet"

EntryKind = Literal["async", "blocking", "script"]
"""`async def main(input)`, with the asynchronous SDK; `def main(input)`, or a script without main, with the blocking
one. What else may be bound to the name is taken for asynchronous."""

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


def entry_kind_of(tree: ast.Module, entry: str, bound: set[str]) -> EntryKind | None:
    """The style of a module that binds these names; None when there is nothing to run.

    A module without the entry is a script when it uses the SDK and calls something; otherwise the entry was forgotten,
    or its name misspelled.
    """
    if entry in bound:
        functions = entry_functions(tree, entry)
        plain = bool(functions) and all(isinstance(node, ast.FunctionDef) for node in functions)
        return "blocking" if plain else "async"
    acts = any(isinstance(node, ast.Call) for node in _outside_definitions(tree))
    return "script" if acts and _uses_sdk(tree) else None


def entry_functions(tree: ast.Module, entry: str) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    """The definitions of the entry: several, where it depends on something which one counts."""
    return [node for node in _outside_definitions(tree) if isinstance(node, _Function) and node.name == entry]


def has_main_guard(tree: ast.Module) -> bool:
    """Whether something stands under `if __name__ == "__main__"`, which never holds: programs are imported."""
    return any(_is_main_guard(node) for node in tree.body)


def _outside_definitions(tree: ast.Module) -> Iterator[ast.AST]:
    """Every node that belongs to the module's own level, definitions included but not what is inside of them."""
    waiting: list[ast.AST] = list(tree.body)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, _DEFINITIONS) and not _is_main_guard(node):
            waiting.extend(ast.iter_child_nodes(node))


def _is_main_guard(node: ast.AST) -> bool:
    match node:
        case ast.If(
            test=ast.Compare(
                left=ast.Name(id="__name__"), ops=[ast.Eq()], comparators=[ast.Constant(value="__main__")]
            ),
            orelse=[],
        ):
            return True
        case _:
            return False


def _uses_sdk(tree: ast.Module) -> bool:
    for node in ast.walk(tree):
        match node:
            case ast.ImportFrom(module=str(module), level=0) if module.partition(".")[0] == SDK_ALIAS:
                return True
            case ast.Import(names=names) if any(name.name.partition(".")[0] == SDK_ALIAS for name in names):
                return True
            case _:
                pass
    return False


class SourceFacts(msgspec.Struct, frozen=True):
    """`entry_kind` is None when there is nothing to run, or when the file only answers requests.

    `handles` says whether it answers requests, `guarded` whether something stands under `if __name__ == "__main__"`.
    """

    entry_kind: EntryKind | None
    handles: bool
    guarded: bool


def facts_of(tree: ast.Module, entry: str) -> SourceFacts:
    names = _bound_names(tree)
    handles = HANDLER in names
    entry_kind = None if handles and entry not in names else entry_kind_of(tree, entry, names)
    return SourceFacts(entry_kind, handles, has_main_guard(tree))


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
