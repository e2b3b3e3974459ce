"""The parameters a program declares, and inputs checked against them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import cast

from pie_mlx.runtime.program.findings import brief, nearest, show_value

Input = dict[str, object]
"""The parsed JSON object a program is started with."""

TYPES = ("string", "int", "float", "bool", "list", "object", "any")


@dataclass(frozen=True, slots=True)
class Parameter:
    """One declared input. `has_default` tells a default of null from none; `low` and `high` are inclusive."""

    name: str
    type: str = "any"
    optional: bool = False
    has_default: bool = False
    default: object = None
    description: str = ""
    choices: tuple[object, ...] = ()
    low: float | None = None
    high: float | None = None

    @property
    def required(self) -> bool:
        return not (self.optional or self.has_default)

    @property
    def summary(self) -> str:
        """`string: The user message`, or the type alone."""
        return f"{self.type}: {self.description}" if self.description else self.type

    def problem(self, value: object) -> str:
        """Why `value` does not fit, or ""."""
        if not fits(self.type, value):
            return f"expected {self.type}, got {show_value(value)}"
        if self.choices and value not in self.choices:
            return f"expected one of {', '.join(brief(choice) for choice in self.choices)}, got {show_value(value)}"
        if isinstance(value, int | float) and not isinstance(value, bool):
            return self._range_problem(value)
        return ""

    def _range_problem(self, value: float) -> str:
        if self.low is not None and value < self.low:
            return f"expected at least {self.low:g}, got {value}"
        if self.high is not None and value > self.high:
            return f"expected at most {self.high:g}, got {value}"
        return ""


def fits(type: str, value: object) -> bool:
    """Whether a JSON value has a declared type. A bool or 3.0 is not an int; an int is also a float."""
    match type:
        case "string":
            return isinstance(value, str)
        case "bool":
            return isinstance(value, bool)
        case "int":
            return isinstance(value, int) and not isinstance(value, bool)
        case "float":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "list":
            return isinstance(value, list)
        case "object":
            return isinstance(value, dict)
        case _:
            return True


@dataclass(frozen=True, slots=True)
class Parameters:
    """All parameters of a program. Unless `enforced`, they only document it and help the command line."""

    declared: Mapping[str, Parameter] = field(default_factory=dict[str, Parameter])
    enforced: bool = False
    extra_allowed: bool = True

    def problems(self, values: Mapping[str, object]) -> list[str]:
        """Every mismatch, in declaration order, then the unknown names."""
        if not self.enforced:
            return []
        found = [self._problem(parameter, values) for parameter in self.declared.values()]
        if not self.extra_allowed:
            found += [self._unknown(name) for name in values if name not in self.declared]
        return [problem for problem in found if problem]

    def complete(self, values: Mapping[str, object]) -> Input:
        """`values` with the defaults filled in."""
        defaults = {p.name: p.default for p in self.declared.values() if p.has_default and self.enforced}
        return {**defaults, **values}

    def table(self) -> list[str]:
        """One line per parameter, for people."""
        width = max((len(name) for name in self.declared), default=0)
        return [f"{p.name:<{width}}  {_described(p)}" for p in self.declared.values()]

    def _problem(self, parameter: Parameter, values: Mapping[str, object]) -> str:
        if parameter.name not in values:
            return f"missing parameter '{parameter.name}' ({parameter.summary})" if parameter.required else ""
        problem = parameter.problem(values[parameter.name])
        return f"parameter '{parameter.name}': {problem}" if problem else ""

    def _unknown(self, name: str) -> str:
        return f"unknown parameter '{name}'{nearest(name, self.declared)}"


def _described(parameter: Parameter) -> str:
    notes = [parameter.summary]
    if parameter.has_default:
        notes.append(f"(default {brief(parameter.default) or 'a ' + parameter.type})")
    elif parameter.optional:
        notes.append("(optional)")
    if parameter.choices:
        notes.append(f"[{', '.join(brief(choice) for choice in parameter.choices)}]")
    return " ".join(notes)


def as_object(value: object) -> Input | None:
    """The input as an object; an empty list counts as an empty object, any other value gives None."""
    if isinstance(value, dict):
        return cast("Input", value)
    return {} if value == [] else None
