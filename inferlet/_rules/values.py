"""Symbolic values: arithmetic on them writes the operations of a rule down instead of computing anything."""

import inspect
from array import array
from collections.abc import Iterable, Sequence
from math import inf
from typing import Annotated, NoReturn, TypeAlias, Union

from pie_mlx.calls import MOST_OPERATIONS, MOST_WEIGHTS, RuleArray, RuleNode, RuleTypes, ValueType
from pie_mlx.errors import InvalidArgumentError, InvalidTypeError

_HERE = __file__.rpartition("values")[0]

Number: TypeAlias = Union["Value", float]
"""What a rule computes with: a value, or a number that is the same for all rows."""

Whole: TypeAlias = Union["Value", int]
"""A whole number: a token, or a key. A parameter with this annotation is an integer."""


class Tracer:
    """The operations of a rule, in order; an equal one is written down once."""

    def __init__(self) -> None:
        self.nodes: list[RuleNode] = []
        self.arrays: list[RuleArray] = []
        self._types = RuleTypes()
        self._known: dict[tuple[str, tuple[int, ...], float, str], int] = {}

    def add(
        self, operation: str, *inputs: "Value", value: float = 0.0, name: str = "", constant: RuleArray | None = None
    ) -> "Value":
        """The result of an operation. Raises InvalidArgumentError for inputs of other types, with the line."""
        places = tuple(each.place for each in inputs)
        if constant is not None:
            value = self._place_of(constant)
        key = (operation, places, value, name)
        place, line = self._known.get(key), _program_line()
        if place is None:
            try:
                self._types.add(operation, places, constant)
            except InvalidArgumentError as error:
                raise InvalidArgumentError(f"line {line}: {error.message}", hint=error.hint) from None
            place = self._known[key] = len(self.nodes)
            if place == MOST_OPERATIONS:
                _refuse(f"more than {MOST_OPERATIONS} operations", "loops write their body down each time: simplify it")
            self.nodes.append(RuleNode(operation, places, value, name, line))
        return Value(self, place, self._types.types[place])

    def vector(self, values: Iterable[float]) -> "Value":
        """A constant. Raises InvalidTypeError for what are no finite numbers, and for too many, with the line."""
        data = _weights(values)
        return self.add("vector", constant=RuleArray(len(data) // 4, data))

    def _place_of(self, constant: RuleArray) -> float:
        """The place of an array among all, an equal one only once."""
        if constant not in self.arrays:
            self.arrays.append(constant)
            if sum(len(each.data) for each in self.arrays) > 4 * MOST_WEIGHTS:
                _refuse(f"more than {MOST_WEIGHTS} numbers in all arrays", "use fewer outputs")
        return float(self.arrays.index(constant))


class Value:
    """A number for each row of the batch, a row of them for all tokens of the vocabulary, or a vector."""

    __slots__ = ("place", "tracer", "type")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, tracer: Tracer, place: int, type: ValueType) -> None:
        self.tracer, self.place, self.type = tracer, place, type

    def __repr__(self) -> str:
        return f"<{self.type} of a rule>"

    def __neg__(self) -> "Value":
        return self.tracer.add("negative", self)

    def __abs__(self) -> "Value":
        return self.tracer.add("absolute", self)

    def __invert__(self) -> "Value":
        return self.tracer.add("not", self)

    def __add__(self, other: Number) -> "Value":
        return _joined("add", self, other)

    def __radd__(self, other: Number) -> "Value":
        return _joined("add", other, self)

    def __sub__(self, other: Number) -> "Value":
        return _joined("subtract", self, other)

    def __rsub__(self, other: Number) -> "Value":
        return _joined("subtract", other, self)

    def __mul__(self, other: Number) -> "Value":
        return _joined("multiply", self, other)

    def __rmul__(self, other: Number) -> "Value":
        return _joined("multiply", other, self)

    def __truediv__(self, other: Number) -> "Value":
        return _joined("divide", self, other)

    def __rtruediv__(self, other: Number) -> "Value":
        return _joined("divide", other, self)

    def __lt__(self, other: Number) -> "Value":
        return _joined("less", self, other)

    def __le__(self, other: Number) -> "Value":
        return _joined("less_equal", self, other)

    def __gt__(self, other: Number) -> "Value":
        return _joined("greater", self, other)

    def __ge__(self, other: Number) -> "Value":
        return _joined("greater_equal", self, other)

    def __eq__(self, other: object) -> "Value":  # type: ignore[override]
        if not isinstance(other, Value | int | float):
            raise _refused(f"== with {type(other).__name__}", "compare with a number or a value")
        if self.type.kind == "integer":
            return self.tracer.add("same", self, integer(self.tracer, other))
        return _joined("equal", self, other)

    def __ne__(self, other: object) -> "Value":  # type: ignore[override]
        return ~(self == other)

    def __and__(self, other: "Value") -> "Value":
        return _joined("and", self, other)

    def __or__(self, other: "Value") -> "Value":
        return _joined("or", self, other)

    def exp(self) -> "Value":
        """e to the power of it."""
        return self.tracer.add("exp", self)

    def log(self) -> "Value":
        """The natural logarithm."""
        return self.tracer.add("log", self)

    def sqrt(self) -> "Value":
        """The square root."""
        return self.tracer.add("square_root", self)

    def sum(self) -> "Value":
        """The sum of a row or a vector, one number."""
        return self.tracer.add("sum", self)

    def max(self) -> "Value":
        """The largest value of a row."""
        return self.tracer.add("max", self)

    def min(self) -> "Value":
        """The smallest value of a row."""
        return self.tracer.add("min", self)

    def mean(self) -> "Value":
        """The mean of a row."""
        return self.tracer.add("mean", self)

    def log_sum_exp(self) -> "Value":
        """The logarithm of the sum of the powers of e."""
        return self.tracer.add("log_sum_exp", self)

    def cumulative_sum(self) -> "Value":
        """The sum up to each token, itself included: by token id, or by falling logits where there are candidates."""
        return self.tracer.add("cumulative_sum", self)

    def at(self, token: Whole) -> "Value":
        """A row's value at one token; at a row of tokens, a row; a vector's at a place, from 0. Ids and places that it
        does not have give its smallest value."""
        ids = integer(self.tracer, token)
        operation = "element" if self.type.is_vector else "gather" if ids.type.is_row else "at"
        return self.tracer.add(operation, self, ids)

    def dot(self, other: "Value | Iterable[float]") -> "Value":
        """The sum of the products of two vectors, one number: of values, or of as many plain numbers."""
        return (self * (other if isinstance(other, Value) else self.tracer.vector(other))).sum()

    def matmul(self, matrix: Sequence[Sequence[float]]) -> "Value":
        """The product of a constant matrix with a vector: a vector with a number for each of the matrix's rows, all of
        which are as long as this one. All constants of a rule have at most 65,536 numbers."""
        rows = [_weights(row) for row in matrix]
        if len({len(row) for row in rows}) != 1:
            _refuse("a matrix whose rows are not equally long", "give a list of weights for each output")
        return self.tracer.add("matmul", self, constant=RuleArray(len(rows[0]) // 4, b"".join(rows)))

    def to_float(self) -> "Value":
        """Integers as floats."""
        return self.tracer.add("to_float", self)

    def to_integer(self) -> "Value":
        """Floats without their fractions."""
        return self.tracer.add("to_integer", self)

    def __bool__(self) -> bool:
        _refuse(
            "a value has no truth while the rule is traced", "choose with where(condition, a, b); join with & and |"
        )

    def __iter__(self) -> NoReturn:
        _refuse("a value cannot be looped over", "a rule sees all tokens at once: use sum, max, where")

    def __getitem__(self, index: object) -> NoReturn:
        _refuse("a value has no parts: their shape would depend on it", "choose with where; take one with at(token)")

    def __len__(self) -> int:
        _refuse("a value has no length", "its length is that of the vocabulary")

    def __float__(self) -> float:
        _refuse("a value is no number yet", "keep computing with it; return it as a state to see it")

    __int__ = __index__ = __len__


Vector: TypeAlias = Annotated[Value, "as wide as the model"]
"""As many numbers as a hidden state of the model has. A parameter with this annotation is such a vector."""


def where(condition: Value, yes: Number, no: Number) -> Value:
    """`yes` where the condition holds, `no` elsewhere."""
    if not isinstance(condition, Value):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise _refused(f"where({type(condition).__name__}, ...)", "compare two values first, such as x > y")
    tracer = condition.tracer
    return tracer.add("where", condition, floating(tracer, yes), floating(tracer, no))


def maximum(first: Number, second: Number) -> Value:
    """The larger of two values, token by token."""
    return _joined("maximum", first, second)


def minimum(first: Number, second: Number) -> Value:
    """The smaller of two values, token by token."""
    return _joined("minimum", first, second)


def mass_threshold(order: Value, weight: Value, mass: Number) -> Value:
    """The smallest value of `order` such that the tokens up to it have at least the share `mass` of `weight`."""
    return order.tracer.add("mass_threshold", order, weight, floating(order.tracer, mass))


def scatter(values: Value, tokens: Whole, otherwise: Number) -> Value:
    """A row with, for each token, the largest of `values` that are sent to it, and `otherwise` where none is. `tokens`
    has the id that each is sent to; ids that the row does not have go nowhere."""
    tracer = values.tracer
    return tracer.add("scatter", values, integer(tracer, tokens), floating(tracer, otherwise))


def hash_uniform(first: Value, second: Whole, third: Whole) -> Value:
    """A number of [0, 1) for three integers, the same each time and as if drawn at random."""
    tracer = first.tracer
    return tracer.add("hash", first, integer(tracer, second), integer(tracer, third))


def integer(tracer: Tracer, value: Whole | float) -> Value:
    """As an integer of the rule. Raises InvalidTypeError for a number with a fraction."""
    if isinstance(value, Value):
        return value
    if type(value) is not int:
        raise _refused(f"{value!r} where a whole number is needed", "pass an int")
    return tracer.add("to_integer", tracer.add("constant", value=float(value)))


def _joined(operation: str, first: Number, second: Number) -> Value:
    value = first if isinstance(first, Value) else second
    if not isinstance(value, Value):
        raise _refused(f"{operation} of two plain numbers", "compute them in plain Python")
    return value.tracer.add(operation, floating(value.tracer, first), floating(value.tracer, second))


def floating(tracer: Tracer, value: Number) -> Value:
    if isinstance(value, Value):
        return value
    if type(value) not in (int, float):
        hint = (
            "write row.vector(...)" if isinstance(value, list | tuple) else "pass it as a parameter, or write a number"
        )
        raise _refused(f"{type(value).__name__} in a rule", hint)
    if value != value:
        raise _refused("NaN in a rule", "write a number")
    return tracer.add("constant", value=float(value))


def float32(values: Iterable[float]) -> bytes:
    """Finite numbers as little-endian float32. Raises ValueError for any other, TypeError for what are no numbers."""
    found = array("f", values)
    if not all(-inf < value < inf for value in found):
        raise ValueError("a number that is not finite")
    return found.tobytes()


def _weights(values: Iterable[float]) -> bytes:
    try:
        data = float32(values)
    except (TypeError, ValueError) as error:
        raise _refused(f"a constant vector: {error}", "give a list of finite numbers") from None
    return data or _refuse("a constant vector without numbers", "give a list of finite numbers")


def _refuse(what: str, hint: str) -> NoReturn:
    raise _refused(what, hint)


def _refused(what: str, hint: str) -> InvalidTypeError:
    return InvalidTypeError(f"line {_program_line()}: {what}", hint=hint)


def _program_line() -> int:
    """The line of the program's function, outside of the SDK's own files."""
    frame = inspect.currentframe()
    while frame is not None and frame.f_code.co_filename.startswith(_HERE):
        frame = frame.f_back
    return 0 if frame is None else frame.f_lineno
