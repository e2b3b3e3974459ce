"""What programs import, as a page: signatures as they are written, and their docstrings."""

import ast
import inspect
import textwrap
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pie_mlx.sdk as sdk

_SKIPPED = {"errors"}
"""It has its own table in its docstring."""


def sdk_lines() -> Iterator[str]:
    """Classes and functions of `inferlet`, then its modules."""
    yield "`inferlet`, what a program imports. Blocking programs (`def main(input)`) have the same without `await`."
    found = {name: getattr(sdk, name) for name in sdk.__all__}
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
    yield f"\n## inferlet.errors\n\n```\n{_text(sdk.errors)}\n```"


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
    functions = [part for part in tree.body if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef)]
    yield from (_signature(part) for part in functions if part.name == "__init__")
    yield "```"
    rows = [(part, ast.get_docstring(part)) for part in functions if not part.name.startswith("_")]
    for part, text in rows:
        yield f"\n- `{_signature(part)}`" + (f"\n\n{textwrap.indent(text, '  ')}" if text else "")


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
