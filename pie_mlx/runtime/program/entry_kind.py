"""The kind of a program's entry, which decides what `import inferlet` means. Nothing is executed."""

import ast
from collections.abc import Iterator
from typing import Literal

import msgspec

from pie_mlx.runtime.program.manifest import HANDLER

SDK_ALIAS = "inferlet"

EntryKind = Literal["async", "blocking", "script"]
"""`async def main(input)` uses the asynchronous SDK; `def main(input)` and a script without main use the blocking one.
Anything else bound to the entry's name counts as asynchronous."""

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


def entry_kind_of(tree: ast.Module, entry: str, bound: set[str]) -> EntryKind | None:
    """The kind of a module that binds the names `bound`; None when there is nothing to run.

    A module without the entry is a script if it uses the SDK and calls something; otherwise its entry is missing or
    misspelled.
    """
    if entry in bound:
        functions = entry_functions(tree, entry)
        plain = bool(functions) and all(isinstance(node, ast.FunctionDef) for node in functions)
        return "blocking" if plain else "async"
    acts = any(isinstance(node, ast.Call) for node in _outside_definitions(tree))
    return "script" if acts and _uses_sdk(tree) else None


def entry_functions(tree: ast.Module, entry: str) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    """The definitions of the entry; several if they are conditional."""
    return [node for node in _outside_definitions(tree) if isinstance(node, _Function) and node.name == entry]


def has_main_guard(tree: ast.Module) -> bool:
    """Whether code is guarded by `if __name__ == "__main__"`, which is never true: programs are imported."""
    return any(_is_main_guard(node) for node in tree.body)


def _outside_definitions(tree: ast.Module) -> Iterator[ast.AST]:
    """Every node on module level, including definitions but not their bodies."""
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

    `handles`: it defines the request handler. `guarded`: some code is under `if __name__ == "__main__"`.
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
    """Names bound by statements outside functions and classes, however deeply nested."""
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
