"""Mistakes in using the SDK, where the kind of an expression is certain. Nothing is executed."""

import ast
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from inferlet import Generator
from pie_mlx.runtime.check.scopes import Scope, scopes
from pie_mlx.runtime.check.sdk_types import (
    Class,
    Function,
    Instance,
    Kind,
    Module,
    Pending,
    is_of_sdk,
    lacks,
    public_names,
)
from pie_mlx.runtime.check.signatures import signature_problem
from pie_mlx.runtime.check.undefined_names import undefined_names
from pie_mlx.runtime.program.entry_kind import EntryKind
from pie_mlx.runtime.program.findings import nearest

_READERS = frozenset({"bool", "bytes", "dict", "float", "int", "len", "list", "print", "repr", "set", "str", "tuple"})
"""Builtins that need a value; others may get a coroutine to await later."""

_COUNTERPARTS = {"argmax": "greedy", "greedy": "argmax"}
"""Names of the same thing in the two APIs, where they are not similar."""


FINDINGS_LIMIT = 100
"""Most findings reported."""


class _Finding(NamedTuple):
    line: int
    problem: str


def sdk_usage_findings(tree: ast.Module, file: Path, entry_kind: EntryKind) -> list[str]:
    """Calls that are not awaited or do not fit their signature, loops of the wrong kind, unknown names and attributes.

    In line order.
    """
    found_scopes = scopes(tree, entry_kind)
    places = [(node, scope) for scope in found_scopes for node in scope.nodes]
    found = {finding for node, scope in places for finding in _awaiting_findings(node, scope)}
    unbound = undefined_names(tree, found_scopes)
    found |= {_Finding(line, problem) for line, problem in islice(unbound, FINDINGS_LIMIT)}
    if "TypeError" not in _names(tree):
        mismatches = (finding for node, scope in places for finding in _signature_problems(node, scope))
        found |= set(islice(mismatches, FINDINGS_LIMIT))
    if not _asks_for_attributes(tree):
        assigned = _assigned(tree)
        missing = (finding for node, scope in places for finding in _missing(node, scope, assigned))
        found |= set(islice(missing, FINDINGS_LIMIT))
    return [f"{file}:{finding.line}: {finding.problem}" for finding in sorted(found)[:FINDINGS_LIMIT]]


def _awaiting_findings(node: ast.AST, scope: Scope) -> Iterator[_Finding]:
    match node:
        case ast.Expr(value=ast.Call() as call):
            if isinstance(scope.kind(call), Pending):
                yield _Finding(call.lineno, f"{_shown(call)} is not awaited, so it does nothing: {_advice(call)}")
        case ast.Return(value=value) if _is_main(scope):
            yield from _unawaited(scope.kind(value))
        case ast.For(iter=over) | ast.comprehension(iter=over, is_async=0):
            yield from _walked_plainly(over, scope)
        case ast.AsyncFor(iter=over) | ast.comprehension(iter=over):
            yield from _walked_asynchronously(over, scope)
            if isinstance(node, ast.AsyncFor):
                yield from _unexecuted(node, scope)
        case ast.Await(value=value):
            yield from _awaited(value, scope)
        case _:
            for value in _read(node, scope):
                yield from _unawaited(scope.kind(value))


def _is_main(scope: Scope) -> bool:
    """Whether the engine awaits its result; results of other functions may be awaited by their callers."""
    owner, module = scope.owner, scope.outer.owner if scope.outer else None
    return (
        isinstance(owner, ast.AsyncFunctionDef)
        and owner.name == "main"
        and isinstance(module, ast.Module)
        and owner in module.body  # not a method: the scope around a method is not its class
    )


def _read(node: ast.AST, scope: Scope) -> list[ast.expr]:
    """The parts of a node that must be values, not coroutines."""
    match node:
        case ast.Attribute(value=value, attr=name, ctx=ast.Load()):
            return [value] if lacks(scope.kind(value), name) else []
        case ast.Subscript(value=value) | ast.FormattedValue(value=value):
            return [value]
        case ast.BinOp(left=left, right=right):
            return [left, right]
        case ast.Compare(left=left, ops=operators, comparators=others):
            compares_identity = any(isinstance(operator, ast.Is | ast.IsNot) for operator in operators)
            return [] if compares_identity else [left, *others]
        case ast.If(test=ast.Call() as test) | ast.While(test=ast.Call() as test):
            return [test]
        case ast.Call(func=function, args=values, keywords=keywords) if _reads(function, scope):
            return [*values, *(keyword.value for keyword in keywords)]
        case _:
            return []


def _reads(function: ast.expr, scope: Scope) -> bool:
    """Whether a callee needs values as arguments; everything in the SDK does."""
    match scope.kind(function):
        case Function():
            return True
        case Class(cls):
            return is_of_sdk(cls) or cls.__name__ in _READERS
        case _:
            return isinstance(function, ast.Name) and function.id in _READERS and scope.is_builtin(function.id)


def _unawaited(kind: Kind | None) -> Iterator[_Finding]:
    if isinstance(kind, Pending):
        call = kind.call
        yield _Finding(call.lineno, f"{_shown(call)} is not awaited, and is used as if it were: {_advice(call)}")


def _walked_plainly(over: ast.expr, scope: Scope) -> Iterator[_Finding]:
    kind = scope.kind(over)
    yield from _unawaited(kind)
    if isinstance(kind, Instance) and hasattr(kind.cls, "__aiter__") and not hasattr(kind.cls, "__iter__"):
        what = f"a {kind.cls.__name__}, which waits between one and the next"
        yield _Finding(over.lineno, f"'for' over {what}: write 'async for', in an 'async def'")


def _walked_asynchronously(over: ast.expr, scope: Scope) -> Iterator[_Finding]:
    kind = scope.kind(over)
    yield from _unawaited(kind)
    if isinstance(kind, Instance) and not hasattr(kind.cls, "__aiter__"):
        name = kind.cls.__name__
        what = "which is no sequence" if not hasattr(kind.cls, "__iter__") else "where nothing is waited for"
        advice = "write 'for'" if hasattr(kind.cls, "__iter__") else "walk what its generate() gives"
        yield _Finding(over.lineno, f"'async for' over a {name}, {what}: {advice}")


def _unexecuted(loop: ast.AsyncFor, scope: Scope) -> Iterator[_Finding]:
    """A loop over steps that uses no step, and neither ends nor goes on in another way."""
    kind, step = scope.kind(loop.iter), loop.target
    if not (isinstance(kind, Instance) and kind.cls is Generator and isinstance(step, ast.Name)):
        return
    inside = [node for line in loop.body for node in ast.walk(line)]
    uses = any(isinstance(node, ast.Name) and node.id == step.id for node in inside)
    ends = any(isinstance(node, ast.Break | ast.Return | ast.Raise) for node in inside)
    accepts = any(isinstance(node, ast.Attribute) and node.attr == "accept" for node in inside)
    if not (uses or ends or accepts):
        advice = f"write 'output = await {step.id}.execute()' in the loop"
        yield _Finding(loop.lineno, f"no step of this loop is executed, so the text does not grow: {advice}")


def _awaited(value: ast.expr, scope: Scope) -> Iterator[_Finding]:
    kind = scope.kind(value)
    if isinstance(value, ast.Call) and isinstance(kind, Instance) and not hasattr(kind.cls, "__await__"):
        yield _Finding(value.lineno, f"'await' of {_shown(value)}, which answers at once: leave 'await' out")


def _signature_problems(node: ast.AST, scope: Scope) -> Iterator[_Finding]:
    if isinstance(node, ast.Call) and (problem := signature_problem(node, scope.kind(node.func))):
        yield _Finding(node.lineno, f"{_shown(node)}: {problem}")


def _missing(node: ast.AST, scope: Scope, assigned: set[str]) -> Iterator[_Finding]:
    if not isinstance(node, ast.Attribute) or not isinstance(node.ctx, ast.Load):
        return
    kind = scope.kind(node.value)
    if kind is None or isinstance(kind, Pending) or not lacks(kind, node.attr) or node.attr in assigned:
        return
    known = public_names(kind)
    other = _COUNTERPARTS.get(node.attr)
    advice = f": write '{other}'" if other in known else nearest(node.attr, known) or f": it has {', '.join(known)}"
    yield _Finding(node.lineno, f"'{ast.unparse(node)}': {_title(kind, scope.entry_kind)} has no '{node.attr}'{advice}")


def _title(kind: Kind, entry_kind: EntryKind) -> str:
    api = "asynchronous" if entry_kind == "async" else "blocking"
    match kind:
        case Module(_, name):
            return f"'{name}' of the {api} API"
        case Class(cls):
            return f"the class {cls.__name__} of the {api} API"
        case Instance(cls):
            return f"a {cls.__name__} of the {api} API"
        case _:
            return "it"


def _asks_for_attributes(tree: ast.Module) -> bool:
    """Whether the program checks for attributes itself, so a missing one may be intended."""
    return bool(_names(tree) & {"AttributeError", "hasattr", "setattr"})


def _names(tree: ast.Module) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def _assigned(tree: ast.Module) -> set[str]:
    nodes = (node for node in ast.walk(tree) if isinstance(node, ast.Attribute))
    return {node.attr for node in nodes if not isinstance(node.ctx, ast.Load)}


def _shown(call: ast.Call) -> str:
    return f"'{ast.unparse(call.func)}()'"


def _advice(call: ast.Call) -> str:
    arguments = "..." if call.args or call.keywords else ""
    return f"write 'await {ast.unparse(call.func)}({arguments})', in an 'async def'"
