"""Rules: what a program computes on each row of logits before a token is drawn, as data.

A rule is a list of operations, each of which reads results of earlier ones. A result is one number for each row of the
batch, a row with a value for each token of the vocabulary, or a vector such as the row's hidden state; it holds floats,
integers or conditions. The SDK traces a Python function into such a list; the engine checks it once more, and runs it
for all rows of a batch at once.
"""

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Literal, NamedTuple, TypeVar

import msgspec

from pie_mlx.calls.base import Record
from pie_mlx.errors import InvalidArgumentError

T = TypeVar("T")

MOST_BYTES = 16_384
MOST_OPERATIONS = 256
MOST_STATES = 16
MOST_CANDIDATES = 1024
MOST_COST = 100.0
MOST_OTHERS = 8
MOST_BREAKERS = 256
MOST_WEIGHTS = 65_536
"""Bytes and operations of one rule, values that it carries from token to token, most likely tokens that it looks at,
what a step may cost it, in additions of one row of the vocabulary, other contexts whose rows it reads, tokens at which
repetitions end, and numbers in all of its arrays, which are not among the bytes."""

VERSION, VECTOR_VERSION = 1, 2
"""Versions of the format: without vectors, and with them."""

FORBIDDEN = -1e30
"""What a rule sees as the logit of a token that may not be drawn: -inf would make NaN of a difference."""

MODEL_WIDTH = 0
"""The width of a vector that is as wide as the model's hidden states, whatever that is."""

Kind = Literal["float", "integer", "condition"]


class ValueType(NamedTuple):
    """What an operation results in: a number for each row of the batch, `is_row` of the vocabulary, or a vector with a
    `width`."""

    kind: Kind
    is_row: bool
    width: int | None = None

    @property
    def is_vector(self) -> bool:
        return self.width is not None

    def __str__(self) -> str:
        if self.is_vector:
            rest = "" if self.width else " as the model is wide"
            return f"a vector of {self.width or 'as many'} {self.kind}s{rest}"
        return f"{'a row of' if self.is_row else 'one'} {self.kind}{'s' if self.is_row else ''}"


class RuleNode(msgspec.Struct, frozen=True, array_like=True):
    """One operation on the results of earlier nodes. `value` is that of a constant, or the place of an array; `name`
    that of a parameter, a state or another context; `line` is where the program wrote it, 0 if unknown."""

    operation: str
    inputs: tuple[int, ...] = ()
    value: float = 0.0
    name: str = ""
    line: int = 0


class RuleArray(msgspec.Struct, frozen=True, array_like=True):
    """A constant vector of `width` numbers, or a matrix of as many vectors as there are: little-endian float32."""

    width: int
    data: bytes

    @property
    def rows(self) -> int:
        """How many vectors it has, 0 for data that are no whole number of them."""
        rows, rest = divmod(len(self.data), 4 * self.width) if self.width > 0 else (0, 1)
        return 0 if rest else rows


class RuleGraph(Record, frozen=True):
    """A rule without its parameters: rows with equal graphs are computed together.

    `answer` is the node of the new logits. `states` names the nodes of the values that the next token's row gets; they
    may depend on the token that was drawn, and so may `until`, the node of a condition that ends the text after it.
    With `candidates` the rule sees so many most likely tokens, the likeliest first, and all others are forbidden.
    `others` names the other contexts whose rows it reads. To `repeated` the tokens of `breakers` belong to no
    repetition. `arrays` are those of the operations that name one.
    """

    nodes: tuple[RuleNode, ...]
    answer: int
    states: tuple[tuple[str, int], ...] = ()
    candidates: int = 0
    until: int | None = None
    name: str = "rule"
    version: int = VERSION
    others: tuple[str, ...] = ()
    breakers: tuple[int, ...] = ()
    arrays: tuple[RuleArray, ...] = ()

    @property
    def counts_tokens(self) -> bool:
        """Whether it reads which tokens the text has."""
        return any([node.operation in ("generated", "seen", "repeated") for node in self.nodes])

    @property
    def sees_draws(self) -> bool:
        """Whether what it leaves, states or an end, depends on the token that was drawn."""
        return any([node.operation == "drawn" for node in self.nodes])

    @property
    def has_vectors(self) -> bool:
        """Whether it reads hidden states, or computes with vectors otherwise."""
        return any([node.operation in VECTOR_OPERATIONS for node in self.nodes])

    def array_of(self, node: RuleNode) -> RuleArray | None:
        """The array that an operation names, None for other operations. Raises InvalidArgumentError for one that is
        not there."""
        if node.operation not in ARRAY_OPERATIONS:
            return None
        if not (node.value.is_integer() and 0 <= node.value < len(self.arrays)):
            raise InvalidArgumentError(f"{node.operation}: no array {node.value:g}", hint="trace the rule again")
        return self.arrays[int(node.value)]


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(RuleGraph)


def remembered(found: Callable[[bytes], T]) -> Callable[[bytes], T]:
    """What a function finds in the bytes of a rule, with its latest answers: few for rules with many weights, whose
    bytes stay in memory with them."""
    of_short, of_long = functools.lru_cache(1024)(found), functools.lru_cache(32)(found)

    @functools.wraps(found)
    def known(code: bytes) -> T:
        return of_short(code) if len(code) <= MOST_BYTES else of_long(code)

    return known


@remembered
def decoded_rule(code: bytes) -> RuleGraph:
    """The graph that was encoded: one object for equal bytes, of which a step has many. Raises InvalidArgumentError."""
    most = MOST_BYTES + 4 * MOST_WEIGHTS
    if len(code) > most:
        raise InvalidArgumentError(f"rule: {len(code)} bytes, at most {most}", hint="split or simplify it")
    try:
        graph = _decoder.decode(code)
    except (msgspec.DecodeError, RecursionError) as error:
        raise InvalidArgumentError(f"rule: it is no graph of operations: {error}", hint="trace it again") from None
    weights = sum(len(array.data) for array in graph.arrays)
    if len(code) - weights > MOST_BYTES:
        raise InvalidArgumentError(
            f"rule: {len(code) - weights} bytes, at most {MOST_BYTES}", hint="split or simplify it"
        )
    return graph


class RuleUse(Record, frozen=True):
    """A rule with the `parameters` and the `state` of one row; `code` is its graph in msgpack. `vectors` are parameters
    as wide as the model's hidden states, little-endian float32."""

    code: bytes
    parameters: dict[str, float] = {}
    state: dict[str, float] = {}
    vectors: dict[str, bytes] = {}

    @staticmethod
    def of(
        graph: RuleGraph,
        parameters: dict[str, float],
        state: dict[str, float],
        vectors: dict[str, bytes] | None = None,
    ) -> "RuleUse":
        """A use of a rule whose graph is not encoded yet."""
        return RuleUse(_encoder.encode(graph), parameters, state, vectors or {})

    @property
    def graph(self) -> RuleGraph:
        """Its operations. Raises InvalidArgumentError if `code` is none."""
        return decoded_rule(self.code)

    def broken_at(self, tokens: Iterable[int]) -> "RuleUse":
        """With tokens at which repetitions end, such as line breaks, at most 256: `row.repeated` is 0 for them, and
        finds no repetition that has one."""
        graph = msgspec.structs.replace(self.graph, breakers=tuple(sorted(set(tokens))))
        return RuleUse.of(graph, self.parameters, self.state, self.vectors)

    def after(self, states: Sequence[float]) -> "RuleUse":
        """For the next token: with the values of the graph's states, in their order."""
        names = [name for name, _ in self.graph.states]
        return RuleUse(self.code, self.parameters, dict(zip(names, states, strict=True)), self.vectors)


class Operation(NamedTuple):
    """`inputs` are the kinds an operation takes; `result` is what it results in.

    `shape` tells whether the result has the shape of the inputs together, or is always a row, a number or a vector;
    `cost` is that of one row, in additions. `of` is what the first input must be.
    """

    inputs: tuple[Kind, ...]
    result: Kind
    shape: Literal["inputs", "row", "number", "vector"] = "inputs"
    cost: float = 1.0
    of: Literal["anything", "row", "vector", "row or vector"] = "anything"


_F: Kind = "float"
_REDUCTION = Operation((_F,), "float", "number", of="row or vector")

OPERATIONS: dict[str, Operation] = {
    "constant": Operation((), "float", "number"),
    "parameter": Operation((), "float", "number"),
    "integer_parameter": Operation((), "integer", "number"),
    "state": Operation((), "float", "number"),
    "integer_state": Operation((), "integer", "number"),
    "logits": Operation((), "float", "row"),
    "token": Operation((), "integer", "row"),
    "generated": Operation((), "float", "row"),
    "seen": Operation((), "condition", "row"),
    "repeated": Operation((), "float", "row", cost=3.0),
    "log_total": Operation((), "float", "number", cost=4.0),
    "other_logits": Operation((), "float", "row"),
    "other_log_total": Operation((), "float", "number", cost=4.0),
    "previous": Operation((), "integer", "number"),
    "random": Operation((), "float", "number"),
    "drawn": Operation((), "integer", "number"),
    **dict.fromkeys(("negative", "absolute", "square_root"), Operation((_F,), "float")),
    **dict.fromkeys(("exp", "log"), Operation((_F,), "float", cost=2.0)),
    "not": Operation(("condition",), "condition"),
    **dict.fromkeys(("add", "subtract", "multiply", "divide", "maximum", "minimum"), Operation((_F, _F), "float")),
    **dict.fromkeys(("less", "less_equal", "greater", "greater_equal"), Operation((_F, _F), "condition")),
    "equal": Operation((_F, _F), "condition"),
    "same": Operation(("integer", "integer"), "condition"),
    **dict.fromkeys(("and", "or"), Operation(("condition", "condition"), "condition")),
    "where": Operation(("condition", _F, _F), "float"),
    **dict.fromkeys(("sum", "max", "min", "mean"), _REDUCTION),
    "log_sum_exp": _REDUCTION._replace(cost=4.0),
    "cumulative_sum": Operation((_F,), "float", "row", cost=3.0, of="row"),
    "mass_threshold": Operation((_F, _F, _F), "float", "number", cost=45.0, of="row"),
    "at": Operation((_F, "integer"), "float", "number", of="row"),
    "gather": Operation((_F, "integer"), "float", "row", cost=4.0, of="row"),
    "scatter": Operation((_F, "integer", _F), "float", "row", cost=8.0, of="row"),
    "hash": Operation(("integer",) * 3, "float", cost=3.0),
    "to_float": Operation(("integer",), "float"),
    "to_integer": Operation((_F,), "integer"),
    "hidden": Operation((), "float", "vector"),
    "other_hidden": Operation((), "float", "vector"),
    "vector_parameter": Operation((), "float", "vector"),
    "vector": Operation((), "float", "vector"),
    "matmul": Operation((_F,), "float", "vector", of="vector"),
    "element": Operation((_F, "integer"), "float", "number", of="vector"),
}
"""Every operation by its name. `mass_threshold(order, weight, mass)` is the smallest value of `order` such that the
tokens up to it have at least that share of the weight. `gather(row, ids)` is the row's value at the id of each token,
its smallest for ids that no token has; `scatter(values, ids, otherwise)` gives each token the largest of the values
whose id it is, `otherwise` where it is none. `hash` is a uniform number of [0, 1) for three integers. `matmul` is the
product of an array's vectors with a vector, one number for each; `element` is a vector's value at a place, its smallest
for places outside."""

_AT_ONE = ("at", "element")

ARRAY_OPERATIONS = ("vector", "matmul")
"""Operations that name an array, by its place."""
VECTOR_OPERATIONS = ("hidden", "other_hidden", "vector_parameter", "vector", "matmul", "element")
"""Operations that the first version of the format does not have."""

BY_TOKEN = ("gather", "scatter")
"""Operations that look tokens up by id: candidates are compared each with each."""


class RuleTypes:
    """The types of a rule's operations, one after the other. `width` is that of hidden states where they meet vectors
    of a known width, else MODEL_WIDTH."""

    def __init__(self) -> None:
        self.types: list[ValueType] = []
        self.width = MODEL_WIDTH

    def add(self, operation: str, places: Sequence[int], array: RuleArray | None = None) -> ValueType:
        """What an operation on earlier ones results in.

        Raises InvalidArgumentError for an unknown one, or inputs of other types or widths.
        """
        inputs = [self.types[place] for place in places]
        found = _operation(operation, inputs)
        if array is not None and (array.rows < 1 or (not inputs and array.rows > 1)):
            raise InvalidArgumentError(f"{operation}: no whole vectors", hint="give float32 numbers, width for width")
        width, is_row = self._width(operation, inputs, array), found.shape == "row"
        if found.shape == "vector":
            width = array.rows if array is not None and inputs else width or MODEL_WIDTH
        elif found.shape == "inputs":
            is_row = any([each.is_row for each in inputs])
        else:
            width = None
        self.types.append(ValueType(found.result, is_row, width))
        return self.types[-1]

    def _width(self, operation: str, inputs: Sequence[ValueType], array: RuleArray | None) -> int | None:
        """The width that all vectors of an operation have, None if there is none."""
        widths = {each.width for each in inputs if each.width is not None} | ({array.width} if array else set[int]())
        if not widths:
            return None
        if any([each.is_row for each in inputs]):
            raise InvalidArgumentError(
                f"{operation} of {' and '.join(map(str, inputs))}",
                hint="make one number of the vector first: dot, sum, max",
            )
        if MODEL_WIDTH in widths and self.width:
            widths = widths - {MODEL_WIDTH} | {self.width}
        known = sorted(widths - {MODEL_WIDTH})
        if len(known) > 1:
            raise InvalidArgumentError(
                f"{operation}: vectors of {' and '.join(map(str, known))} numbers", hint="they must be equally long"
            )
        if MODEL_WIDTH in widths and known:
            self.width = known[0]
        return known[0] if known else MODEL_WIDTH


def _operation(operation: str, inputs: Sequence[ValueType]) -> Operation:
    """Raises InvalidArgumentError for an unknown one, or inputs of other kinds."""
    found = OPERATIONS.get(operation)
    if found is None:
        raise InvalidArgumentError(f"{operation}: no such operation", hint=f"known are {', '.join(OPERATIONS)}")
    kinds = tuple(each.kind for each in inputs)
    if kinds != found.inputs:
        raise InvalidArgumentError(
            f"{operation}: it takes {_listed(found.inputs)}, got {_listed(kinds)}", hint=_hint(found.inputs, kinds)
        )
    if found.of != "anything" and not _is_one_of(found.of, inputs[0]):
        hints = {"vector": "such as the hidden state"}
        raise InvalidArgumentError(
            f"{operation} of {inputs[0]}", hint=f"it needs a {found.of}, {hints.get(found.of, 'such as the logits')}"
        )
    if operation in _AT_ONE and (inputs[1].is_row or inputs[1].is_vector):
        raise InvalidArgumentError(f"{operation}: its place is {inputs[1]}", hint="give one integer")
    return found


def _is_one_of(wanted: str, found: ValueType) -> bool:
    return (found.is_row and "row" in wanted) or (found.is_vector and "vector" in wanted)


def _listed(kinds: Sequence[str]) -> str:
    return " and ".join(kinds) or "nothing"


def _hint(wanted: Sequence[str], got: Sequence[str]) -> str:
    wrong = [pair for pair in zip(wanted, got, strict=False) if pair[0] != pair[1]]
    if any(found == "condition" for _, found in wrong):
        return "choose between two values with where(condition, a, b)"
    if any(kind == "condition" for kind, _ in wrong):
        return "compare two values, such as x > y"
    return "convert it with to_float or to_integer"
