"""What programs import, as pages: signatures as they are written, and their docstrings."""

import ast
import inspect
import textwrap
from collections.abc import Iterable, Iterator
from types import ModuleType
from typing import Any, TypeGuard

from pie_mlx import sdk
from pie_mlx.sdk import sync

_SKIPPED = {"errors"}
"""It has its own table in its docstring."""


def sdk_lines() -> Iterator[str]:
    """The asynchronous API."""
    yield "`inferlet`, as a program with `async def main(input)` imports it. A plain `def main(input)` and a script"
    yield "without main get the [blocking API](blocking.md), where some things have other names."
    yield from _members({name: getattr(sdk, name) for name in sdk.__all__})
    yield f"\n## inferlet.errors\n\n```\n{_text(sdk.errors)}\n```"


def blocking_lines() -> Iterator[str]:
    """What the blocking API has of its own, and the names of what it shares with the asynchronous one, or lacks."""
    found = {name: getattr(sync, name) for name in sync.__all__}
    own = {name: value for name, value in found.items() if getattr(sdk, name, None) is not value}
    yield "`inferlet`, as a plain `def main(input)` and a script without main import it: nothing is awaited. With"
    yield "`async def main(input)` a program gets the [asynchronous API](sdk.md).\n"
    yield f"The same in both, and described there: {_listed(name for name in found if name not in own)}.\n"
    yield f"Names only the asynchronous API has: {_listed(name for name in sdk.__all__ if name not in found)}."
    events = {f"Event.{name}": kind for name, kind in vars(sync.Event).items() if inspect.isclass(kind)}
    yield from _members(dict(sorted((own | events).items())))


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _members(found: dict[str, Any]) -> Iterator[str]:
    """Classes and functions, then modules."""
    modules = {name: value for name, value in found.items() if isinstance(value, ModuleType)}
    for name, value in found.items():
        if name not in modules:
            yield from _object(name, value, "##")
    for name, module in modules.items():
        if name in _SKIPPED:
            continue
        yield f"\n## inferlet.{name}\n\n{_text(module)}"
        for inner in _names(module):
            yield from _object(f"{name}.{inner}", getattr(module, inner), "###")


def _names(module: ModuleType) -> list[str]:
    listed: list[str] | None = getattr(module, "__all__", None)
    own = [
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", "") == module.__name__
    ]
    return sorted(listed or own)


def _object(name: str, value: Any, heading: str) -> Iterator[str]:
    if inspect.isclass(value):
        yield from _class(name, value, heading)
    elif inspect.isfunction(value):
        yield f"\n{heading} {name}\n\n```\n{_signature(_tree(value))}\n```\n\n{_text(value)}"


def _class(name: str, kind: type, heading: str) -> Iterator[str]:
    tree = _tree(kind)
    yield f"\n{heading} {name}\n\n{_own_text(kind)}\n"
    yield "```"
    yield from (ast.unparse(part) for part in tree.body if _is_field(part))
    functions = [part for part in tree.body if _is_function(part)]
    yield from (_signature(part) for part in functions if part.name == "__init__")
    yield "```"
    rows = [(part, ast.get_docstring(part)) for part in functions if not part.name.startswith("_")]
    for part, text in rows:
        yield f"\n- `{_signature(part)}`" + (f"\n\n{textwrap.indent(text, '  ')}" if text else "")


def _is_function(part: ast.stmt) -> TypeGuard[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Of several signatures of one function the last stands for all."""
    if not isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef):
        return False
    return "overload" not in map(ast.unparse, part.decorator_list)


def _is_field(part: ast.stmt) -> bool:
    return isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name) and not part.target.id.startswith("_")


def _signature(function: Any) -> str:
    """As written, in one line; a property without its `def`."""
    decorators = [ast.unparse(decorator) for decorator in function.decorator_list]
    returns = f" -> {ast.unparse(function.returns)}" if function.returns else ""
    if "property" in decorators:
        return f"{function.name}{returns}"
    awaited = "async " if isinstance(function, ast.AsyncFunctionDef) else ""
    parameters = ast.unparse(function.args).removeprefix("self, ").removeprefix("cls, ")
    parameters = "" if parameters in ("self", "cls") else parameters
    return f"{awaited}{function.name}({parameters}){returns}"


def _tree(value: Any) -> Any:
    return ast.parse(textwrap.dedent(inspect.getsource(value))).body[0]


def _text(value: Any) -> str:
    return inspect.cleandoc(value.__doc__ or "")


def _own_text(kind: type) -> str:
    """Its own docstring; one of another class says nothing about it."""
    return inspect.cleandoc(kind.__dict__.get("__doc__") or "")
