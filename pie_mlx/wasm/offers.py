"""What components can import: interfaces of Python functions and classes, under the names of the WIT."""

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

_CAPITAL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


@dataclass(frozen=True, slots=True)
class Interface:
    """An interface by its name without a version.

    `functions` are its free functions, `resources` its classes: a class method is static there, and the classes in
    `constructed` can be called. Names with underscores in front stay inside.
    """

    name: str
    functions: tuple[Callable[..., Any], ...] = ()
    resources: tuple[type, ...] = ()
    constructed: tuple[type, ...] = ()
    offered: Mapping[str, Callable[..., Any]] = field(init=False)
    classes: Mapping[str, type] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "offered", dict(self._named()))
        object.__setattr__(self, "classes", {_kebab(one.__name__): one for one in self.resources})

    def _named(self) -> Iterator[tuple[str, Callable[..., Any]]]:
        for function in self.functions:
            yield _kebab(function.__name__), function
        for resource in self.resources:
            yield from _members(resource, resource in self.constructed)


def arity(function: Callable[..., Any]) -> int:
    """How many arguments a function takes."""
    return len(inspect.signature(function).parameters)


def _members(resource: type, can_be_called: bool) -> Iterator[tuple[str, Callable[..., Any]]]:
    name = _kebab(resource.__name__)
    if can_be_called:
        yield f"[constructor]{name}", resource
    for word, member in vars(resource).items():
        if word.startswith("_"):
            continue
        if isinstance(member, classmethod):
            yield f"[static]{name}.{_kebab(word)}", getattr(resource, word)
        elif inspect.isfunction(member):
            yield f"[method]{name}.{_kebab(word)}", member


def _kebab(name: str) -> str:
    return _CAPITAL.sub("-", name).replace("_", "-").strip("-").lower()
