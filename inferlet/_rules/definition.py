"""`@rule`: a Python function, traced once into operations that the engine runs."""

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, cast, overload

from msgspec.structs import replace

from inferlet._rules.other_row import OtherRow
from inferlet._rules.row import Row
from inferlet._rules.values import Number, Tracer, Value, Vector, Whole, float32
from pie_mlx.calls import VECTOR_VERSION, VERSION, RuleGraph, RuleNode, RuleUse, ValueType
from pie_mlx.errors import InvalidArgumentError, InvalidTypeError

States = dict[str, Number]
Traced = Callable[..., Value | tuple[Value, States] | tuple[Value, States, Value]]


class Rule:
    """A rule that was traced; called with its parameters it is what a `Sampler.ruled` takes.

    A parameter of which the function returns the next value is a state: the call says what it is at first. A parameter
    annotated `OtherRow` is the row of another context, which the Generator gets: `context.generate(..., others=[...])`.
    One annotated `Vector` has as many numbers as the model's hidden states.
    """

    def __init__(self, function: Traced, candidates: int = 0) -> None:
        functools.update_wrapper(cast("Callable[..., Any]", self), function)
        others, self._defaults = _parameters(function)
        self.graph = _traced(function, others, self._defaults, candidates)
        """Its operations, as the engine gets them."""

    def __call__(self, **parameters: float | Sequence[float]) -> RuleUse:
        """With these parameters; those left out have the function's defaults.

        Raises InvalidArgumentError for parameters that are missing or unknown, InvalidTypeError for other values.
        """
        known = {each.name for each in self._defaults}
        if unknown := parameters.keys() - known:
            contexts = "pass other contexts to generate(others=[...])"
            raise InvalidArgumentError(
                f"rule {self.graph.name}: no parameter {', '.join(sorted(unknown))}",
                hint=contexts if unknown & set(self.graph.others) else f"its parameters are {', '.join(sorted(known))}",
            )
        values, vectors = dict[str, float](), dict[str, bytes]()
        read = {node.name for node in self.graph.nodes if node.name}
        for name, operation, default in self._defaults:
            value = parameters.get(name, default)
            if value is None:
                raise InvalidArgumentError(
                    f"rule {self.graph.name}: parameter {name} is missing", hint=f"{self.graph.name}({name}=...)"
                )
            if operation == "vector_parameter":
                vectors |= {name: self._vector(name, value)} if name in read else {}
            elif type(value) not in (int, float):
                raise InvalidTypeError(
                    f"rule {self.graph.name}: {name}: got {type(value).__name__}", hint="pass a number"
                )
            else:
                values[name] = float(cast("float", value))
        states = {name for name, _ in self.graph.states}
        return RuleUse.of(
            self.graph,
            {name: value for name, value in values.items() if name in read - states},
            {name: value for name, value in values.items() if name in states},
            vectors,
        )

    def _vector(self, name: str, value: Any) -> bytes:
        try:
            return float32(value)
        except (TypeError, ValueError) as error:
            raise InvalidTypeError(
                f"rule {self.graph.name}: {name}: {error}", hint="pass a list of finite numbers"
            ) from None


@overload
def rule(function: Traced, /) -> Rule: ...
@overload
def rule(*, candidates: int) -> Callable[[Traced], Rule]: ...
def rule(function: Traced | None = None, /, *, candidates: int = 0) -> Rule | Callable[[Traced], Rule]:
    """Make a rule of a function that takes a `Row` and parameters, and answers the new logits: a row.

    It may answer a tuple: the logits, a dict of states, and a condition that ends the text after the token that was
    drawn; or that condition instead of the logits, which then stay as they are: `Generator.until` takes such a rule.
    The function runs once, on symbolic values; what it writes
    down runs on the device for each row. With `candidates` it sees that many most likely tokens, in order, and all
    others are forbidden: then sorting and running sums cost little.

    Raises InvalidTypeError for what cannot be traced and InvalidArgumentError for types that do not fit, each with the
    program's line.
    """
    if function is None:
        return lambda own: Rule(own, candidates)
    return Rule(function)


class _Parameter(NamedTuple):
    """Its name, the operation that reads it, and its default."""

    name: str
    operation: str
    default: float | None


def _parameters(function: Traced) -> tuple[list[str], list[_Parameter]]:
    """The names of the rows of other contexts, and the parameters."""
    signature = inspect.signature(function, eval_str=True)
    names = list(signature.parameters.values())
    if not names or any(each.kind not in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY) for each in names):
        raise InvalidArgumentError(
            f"rule {function.__name__}: it must take a row and named parameters", hint="def my_rule(row, strength=1.0)"
        )
    others = [each.name for each in names[1:] if each.annotation is OtherRow]
    found: list[_Parameter] = []
    for each in names[1:]:
        if each.annotation is OtherRow:
            continue
        if each.default is not each.empty and type(each.default) not in (int, float):
            raise InvalidTypeError(
                f"rule {function.__name__}: {each.name} defaults to {type(each.default).__name__}", hint="use a number"
            )
        default = None if each.default is each.empty else float(cast("float", each.default))
        found.append(_Parameter(each.name, _operation(each.annotation), default))
    return others, found


def _operation(annotation: object) -> str:
    if annotation == Vector:
        return "vector_parameter"
    return "integer_parameter" if annotation in (Whole, int) else "parameter"


def _traced(function: Traced, others: list[str], parameters: list[_Parameter], candidates: int) -> RuleGraph:
    tracer, name = Tracer(), function.__name__
    values = {own: tracer.add(operation, name=own) for own, operation, _ in parameters}
    answer = function(Row(tracer), **{other: OtherRow(tracer, other) for other in others}, **values)
    logits, states, *until = answer if isinstance(answer, tuple) else (answer, {})
    if getattr(logits, "type", None) == ValueType("condition", False):
        logits, until = Row(tracer).logits, [logits]
    if not isinstance(logits, Value) or logits.type.kind != "float" or not logits.type.is_row:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidTypeError(
            f"rule {name}: it answers {logits!r}", hint="answer the new logits: a row of floats, such as row.logits / 2"
        )
    unknown = states.keys() - {own for own, _, _ in parameters}
    if unknown:
        raise InvalidArgumentError(
            f"rule {name}: it answers states that are no parameters: {', '.join(sorted(unknown))}",
            hint=f"def {name}(row, {', '.join(sorted(unknown))})",
        )
    places = [(own, _number(tracer, name, own, value).place) for own, value in states.items()]
    nodes = [_state_of(node, states) for node in tracer.nodes]
    graph = RuleGraph(
        tuple(nodes),
        logits.place,
        tuple(places),
        candidates,
        until[0].place if until else None,
        name,
        others=tuple(others),
        arrays=tuple(tracer.arrays),
    )
    return replace(graph, version=VECTOR_VERSION if graph.has_vectors else VERSION)


def _number(tracer: Tracer, rule_name: str, state: str, value: Number) -> Value:
    found = value if isinstance(value, Value) else tracer.add("constant", value=float(value))
    if found.type not in (ValueType("float", False), ValueType("integer", False)):
        raise InvalidTypeError(
            f"rule {rule_name}: state {state} is {found.type}", hint="carry a number: sum it, or take it `at` a token"
        )
    return found


def _state_of(node: RuleNode, states: States) -> RuleNode:
    """A parameter that is carried is a state."""
    if node.name not in states:
        return node
    operation = "integer_state" if node.operation == "integer_parameter" else "state"
    return RuleNode(operation, node.inputs, node.value, node.name, node.line)
