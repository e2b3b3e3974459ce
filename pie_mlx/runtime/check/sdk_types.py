"""What the SDK's names, calls and attributes evaluate to, as far as its signatures say so for certain."""

import ast
import importlib
import importlib.util
import inspect
import textwrap
import typing
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from types import CoroutineType, FunctionType, ModuleType, NoneType
from typing import Any, Self, cast

from pie_mlx.runtime.program.entry_kind import SDK_ALIAS, EntryKind
from pie_mlx.runtime.program.modules import sdk_module
from pie_mlx.syntax import parsing

_PLAIN = (bool, bytes, dict, float, int, list, str, tuple, NoneType)
_SHAPELESS = (object, super, type)


@dataclass(frozen=True, slots=True)
class Module:
    module: ModuleType
    name: str
    """As written in programs."""


@dataclass(frozen=True, slots=True)
class Class:
    cls: type


@dataclass(frozen=True, slots=True)
class Instance:
    cls: type


@dataclass(frozen=True, slots=True)
class Function:
    function: FunctionType
    owner: type | None = None
    """The class it was found on: the meaning of Self."""


@dataclass(frozen=True, slots=True)
class Pending:
    """The coroutine of a call that has not been awaited."""

    result: "Kind | None"
    call: ast.Call


Kind = Module | Class | Instance | Function | Pending


def imported(dotted: str, name: str, entry_kind: EntryKind) -> Kind | None:
    """What `import dotted`, or `from dotted import name`, binds; None if it does not exist in the SDK."""
    top, _, rest = dotted.partition(".")
    if top != SDK_ALIAS:
        return None
    try:
        module = importlib.import_module(sdk_module(entry_kind, rest))
    except ImportError:
        return None
    found = Module(module, dotted)
    return member(found, name) if name else found


def member(of: Kind | None, name: str) -> Kind | None:
    """What an attribute refers to; None if uncertain."""
    match of:
        case Module(module, written):
            found = getattr(module, name, None)
            return Module(found, f"{written}.{name}") if isinstance(found, ModuleType) else _found(found, None)
        case Instance(cls) if is_of_sdk(cls):
            found = inspect.getattr_static(cls, name, None)
            if isinstance(found, property):
                return _returned(found.fget, cls)
            return _found(found, cls)
        case Class(cls) if is_of_sdk(cls):
            found = inspect.getattr_static(cls, name, None)
            return None if isinstance(found, FunctionType) else _found(found, cls)
        case _:
            return None


def called(what: Kind | None, call: ast.Call) -> Kind | None:
    """What a call evaluates to; None if uncertain."""
    match what:
        case Class(cls):
            makes_itself = not isinstance(inspect.getattr_static(cls, "__new__"), staticmethod)
            return Instance(cls) if makes_itself and cls not in _SHAPELESS else None
        case Function(function, owner):
            if inspect.iscoroutinefunction(function):
                return Pending(_returned(function, owner), call)
            return _returned(function, owner)
        case _:
            return None


def entered(what: Kind | None) -> Kind | None:
    """What `with ... as` binds."""
    method = member(what, "__enter__") if isinstance(what, Instance) else None
    return _returned(method.function, method.owner) if isinstance(method, Function) else None


def walked(what: Kind | None) -> Kind | None:
    """What `async for` binds; also used for a `for` that should be one."""
    method = member(what, "__anext__") if isinstance(what, Instance) else None
    return _returned(method.function, method.owner) if isinstance(method, Function) else None


def lacks(of: Kind | None, name: str) -> bool:
    """Whether the attribute certainly does not exist."""
    match of:
        case Module(module, _):
            return not hasattr(module, name) and not _has_module(module, name)
        case Class(cls) if is_of_sdk(cls):
            return not hasattr(cls, name) and name not in (_attributes(cls) or {name})
        case Instance(cls) if is_of_sdk(cls):
            return name not in (_attributes(cls) or {name})
        case Pending():
            return not hasattr(CoroutineType, name)
        case _:
            return False


def public_names(of: Kind) -> list[str]:
    """The attributes meant for programs."""
    match of:
        case Module(module, _):
            names: list[str] = list(getattr(module, "__all__", dir(module)))
        case Class(cls):
            names = dir(cls)
        case Instance(cls):
            names = list(_attributes(cls) or ())
        case _:
            names = []
    return sorted(name for name in names if not name.startswith("_"))


def is_of_sdk(cls: type) -> bool:
    """Whether a class belongs to the SDK."""
    return cls.__module__.startswith(("inferlet.", "pie_mlx.calls"))


def _has_module(package: ModuleType, name: str) -> bool:
    return hasattr(package, "__path__") and importlib.util.find_spec(f"{package.__name__}.{name}") is not None


def _found(value: object, owner: type | None) -> Kind | None:
    if isinstance(value, classmethod | staticmethod):
        value = cast("classmethod[Any, Any, Any] | staticmethod[Any, Any]", value).__func__
    if isinstance(value, FunctionType):
        return Function(value, owner)
    return Class(value) if isinstance(value, type) and is_of_sdk(value) else None


def _returned(function: object, owner: type | None) -> Kind | None:
    # A decorated function may return something else than its annotation says.
    if not isinstance(function, FunctionType) or hasattr(function, "__wrapped__"):
        return None
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        return None
    hint = _return_hint(function)
    if hint is Self:
        return Instance(owner) if owner else None
    hint = typing.get_origin(hint) or hint
    if not isinstance(hint, type) or not (hint in _PLAIN or is_of_sdk(hint)):
        return None
    return Instance(hint)


@cache
def _return_hint(function: FunctionType) -> object:
    try:
        return typing.get_type_hints(function).get("return")
    except (NameError, TypeError):
        return None


@cache
def _attributes(cls: type) -> frozenset[str] | None:
    """Attributes of instances, subclasses included; None if there may be more."""
    names: set[str] = set()
    for kind in _with_subclasses(cls):
        if hasattr(kind, "__getattr__") or getattr(kind, "_is_protocol", False):
            return None
        names.update(dir(kind))
        for base in kind.__mro__[:-1]:
            if is_of_sdk(base):
                names.update(base.__annotations__, _assigned(base))
    return frozenset(names)


def _with_subclasses(cls: type) -> Iterator[type]:
    yield cls
    for below in cls.__subclasses__():
        yield from _with_subclasses(below)


def _assigned(cls: type) -> Iterator[str]:
    """Attributes its methods assign on `self`."""
    try:
        with parsing():
            tree = ast.parse(textwrap.dedent(inspect.getsource(cls)))
    except (OSError, TypeError, SyntaxError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr
