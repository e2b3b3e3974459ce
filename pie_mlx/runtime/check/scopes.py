"""What the names of a program refer to, if all their bindings agree. Nothing is executed."""

import ast
import builtins
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from pie_mlx.runtime.check.sdk_types import Class, Instance, Kind, Pending, called, entered, imported, member, walked
from pie_mlx.runtime.program.entry_kind import EntryKind

Binding = Callable[["Scope"], Kind | None]
"""What a binding refers to, evaluated in its scope."""

_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_DISPLAYS: dict[type[ast.AST], type] = {
    ast.List: list,
    ast.ListComp: list,
    ast.Tuple: tuple,
    ast.Dict: dict,
    ast.DictComp: dict,
    ast.Set: set,
    ast.SetComp: set,
    ast.JoinedStr: str,
}


@dataclass(slots=True, eq=False)
class Scope:
    """A module, function or class body. Names it does not bind are looked up in `outer`."""

    nodes: list[ast.AST]
    outer: "Scope | None"
    entry_kind: EntryKind
    volatile: frozenset[str]
    """Names declared `global` or `nonlocal` somewhere."""
    owner: ast.AST
    _bindings: dict[str, list[Binding]] = field(default_factory=dict[str, list[Binding]])
    _kinds: dict[str, Kind | None] = field(default_factory=dict[str, "Kind | None"])

    def bind(self, name: str, binding: Binding) -> None:
        self._bindings.setdefault(name, []).append(binding)

    def kind(self, node: ast.AST | None) -> Kind | None:
        """The kind of an expression's value; None if uncertain."""
        match node:
            case ast.Name(id=name):
                return self.named(name)
            case ast.Attribute(value=value, attr=name):
                return member(self.kind(value), name)
            case ast.Call(func=function):
                return called(self.kind(function), node)
            case ast.Await(value=value):
                awaited = self.kind(value)
                return awaited.result if isinstance(awaited, Pending) else None
            case ast.Constant(value=value):
                return Instance(type(value))
            case None:
                return None
            case _:
                display = _DISPLAYS.get(type(node))
                return Instance(display) if display else None

    def named(self, name: str) -> Kind | None:
        """What a name refers to; None if its bindings differ."""
        if name in self.volatile:
            return None
        if name not in self._bindings:
            return self.outer.named(name) if self.outer else _builtin(name)
        if name not in self._kinds:
            self._kinds[name] = None  # in case a binding refers to itself
            first, *others = (binding(self) for binding in self._bindings[name])
            self._kinds[name] = first if all(other == first for other in others) else None
        return self._kinds[name]

    def is_builtin(self, name: str) -> bool:
        """Whether no scope binds the name."""
        if name in self.volatile or name in self._bindings:
            return False
        return self.outer is None or self.outer.is_builtin(name)

    def bound(self) -> Iterator[str]:
        """Every name visible here, except builtins."""
        yield from self._bindings
        yield from self.outer.bound() if self.outer else self.volatile


def scopes(tree: ast.Module, entry_kind: EntryKind) -> list[Scope]:
    """All scopes of a module; none if it imports `*`, which may bind anything."""
    nodes = list(ast.walk(tree))
    if any(isinstance(node, ast.alias) and node.name == "*" for node in nodes):
        return []
    volatile = {name for node in nodes if isinstance(node, ast.Global | ast.Nonlocal) for name in node.names}
    return list(_scopes(tree, None, entry_kind, frozenset(volatile)))


def _scopes(owner: ast.AST, outer: Scope | None, entry_kind: EntryKind, volatile: frozenset[str]) -> Iterator[Scope]:
    scope = Scope(list(_own_nodes(_body(owner))), outer, entry_kind, volatile, owner)
    claimed: dict[ast.AST, Binding] = {}
    for node in scope.nodes:
        claimed |= _claims(node)
    for node in scope.nodes:
        for name, binding in _bound(node, entry_kind, claimed):
            scope.bind(name, binding)
    if isinstance(owner, _Function):
        for name, binding in _parameters(owner.args):
            scope.bind(name, binding)
    yield scope
    # A method does not see the names of its class.
    around = outer if isinstance(owner, ast.ClassDef) else scope
    for node in scope.nodes:
        if isinstance(node, _Function | ast.ClassDef):
            yield from _scopes(node, around, entry_kind, volatile)


def _body(owner: ast.AST) -> Sequence[ast.AST]:
    match owner:
        case ast.Lambda(body=body):
            return [body]
        case ast.Module() | ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return owner.body
        case _:
            return []


def _own_nodes(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """In source order, including functions and classes but not their bodies."""
    waiting = list(body)[::-1]
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, _Function | ast.ClassDef):
            waiting.extend(list(ast.iter_child_nodes(node))[::-1])


def _claims(node: ast.AST) -> dict[ast.AST, Binding]:
    """The targets that a node binds to something known."""
    match node:
        case ast.Assign(targets=targets, value=value):
            return dict.fromkeys(targets, lambda scope: scope.kind(value))
        case ast.NamedExpr(target=target, value=value):
            return {target: lambda scope: scope.kind(value)}
        case ast.AnnAssign(target=target, value=value) if value:
            return {target: lambda scope: scope.kind(value)}
        case ast.For(target=target, iter=value) | ast.AsyncFor(target=target, iter=value):
            return {target: lambda scope: walked(scope.kind(value))}
        case ast.comprehension(target=target, iter=value):
            return {target: lambda scope: walked(scope.kind(value))}
        case ast.With(items=items):
            return {item.optional_vars: _entering(item) for item in items if item.optional_vars}
        case _:
            return {}


def _entering(item: ast.withitem) -> Binding:
    return lambda scope: entered(scope.kind(item.context_expr))


def _bound(node: ast.AST, entry_kind: EntryKind, claimed: dict[ast.AST, Binding]) -> Iterator[tuple[str, Binding]]:
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
            yield name, claimed.get(node, _anything)
        case ast.Import(names=names):
            for alias in names:
                yield alias.asname or alias.name.partition(".")[0], _importing(_module_bound(alias), "", entry_kind)
        case ast.ImportFrom(module=module, names=names, level=level):
            for alias in names:
                yield alias.asname or alias.name, _importing("" if level else module or "", alias.name, entry_kind)
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name, _anything
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            yield name, _anything
        case ast.MatchMapping(rest=str(name)):
            yield name, _anything
        case _:
            pass


def _module_bound(alias: ast.alias) -> str:
    return alias.name if alias.asname else alias.name.partition(".")[0]


def _importing(module: str, name: str, entry_kind: EntryKind) -> Binding:
    return lambda _: imported(module, name, entry_kind)


def _parameters(given: ast.arguments) -> Iterator[tuple[str, Binding]]:
    """A parameter annotated with an SDK class is an instance of it, unless a default may be something else."""
    positional = [*given.posonlyargs, *given.args]
    optional = {one.arg for one in positional[len(positional) - len(given.defaults) :]}
    optional |= {one.arg for one, default in zip(given.kwonlyargs, given.kw_defaults, strict=True) if default}
    for one in (*positional, *given.kwonlyargs):
        yield one.arg, _anything if one.arg in optional else _annotated(one)
    for one in (given.vararg, given.kwarg):
        if one is not None:
            yield one.arg, _anything


def _annotated(one: ast.arg) -> Binding:
    def binding(scope: Scope) -> Kind | None:
        annotation = scope.outer.kind(one.annotation) if scope.outer and one.annotation else None
        return Instance(annotation.cls) if isinstance(annotation, Class) else None

    return binding


def _anything(scope: Scope) -> None:
    del scope


def _builtin(name: str) -> Kind | None:
    found = getattr(builtins, name, None)
    return Class(found) if isinstance(found, type) else None
