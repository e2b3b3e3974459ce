"""Rules: what a program computes on each row of logits before a token is drawn, as data.

A rule is a list of operations, each of which reads results of earlier ones. A result is one number for each row of the
batch, or a row with a value for each token of the vocabulary; it holds floats, integers or conditions. The SDK traces
a Python function into such a list; the engine checks it once more, and runs it for all rows of a batch at once.
"""

import functools
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

import msgspec

from pie_mlx.calls.base import Record
from pie_mlx.errors import InvalidArgumentError

MOST_BYTES = 16_384
MOST_OPERATIONS = 256
MOST_STATES = 16
MOST_CANDIDATES = 1024
MOST_COST = 100.0
MOST_OTHERS = 8
MOST_BREAKERS = 256
"""Bytes and operations of one rule, values that it carries from token to token, most likely tokens that it looks at,
what a step may cost it, in additions of one row of the vocabulary, other contexts whose rows it reads, and tokens at
which repetitions end."""

FORBIDDEN = -1e30
"""What a rule sees as the logit of a token that may not be drawn: -inf would make NaN of a difference."""

Kind = Literal["float", "integer", "condition"]


class ValueType(NamedTuple):
    """What an operation results in: a number for each row of the batch, or `is_row` of the vocabulary."""

    kind: Kind
    is_row: bool

    def __str__(self) -> str:
        return f"{'a row of' if self.is_row else 'one'} {self.kind}{'s' if self.is_row else ''}"


class RuleNode(msgspec.Struct, frozen=True, array_like=True):
    """One operation on the results of earlier nodes. `value` is that of a constant, `name` that of a parameter, a
    state or another context; `line` is where the program wrote it, 0 if unknown."""

    operation: str
    inputs: tuple[int, ...] = ()
    value: float = 0.0
    name: str = ""
    line: int = 0


class RuleGraph(Record, frozen=True):
    """A rule without its parameters: rows with equal graphs are computed together.

    `answer` is the node of the new logits. `states` names the nodes of the values that the next token's row gets; they
    may depend on the token that was drawn, and so may `until`, the node of a condition that ends the text after it.
    With `candidates` the rule sees so many most likely tokens, the likeliest first, and all others are forbidden.
    `others` names the other contexts whose rows it reads. To `repeated` the tokens of `breakers` belong to no
    repetition.
    """

    nodes: tuple[RuleNode, ...]
    answer: int
    states: tuple[tuple[str, int], ...] = ()
    candidates: int = 0
    until: int | None = None
    name: str = "rule"
    version: int = 1
    others: tuple[str, ...] = ()
    breakers: tuple[int, ...] = ()

    @property
    def counts_tokens(self) -> bool:
        """Whether it reads which tokens the text has."""
        return any([node.operation in ("generated", "seen", "repeated") for node in self.nodes])


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(RuleGraph)


@functools.lru_cache(maxsize=1024)
def decoded_rule(code: bytes) -> RuleGraph:
    """The graph that was encoded: one object for equal bytes, of which a step has many. Raises InvalidArgumentError."""
    if len(code) > MOST_BYTES:
        raise InvalidArgumentError(f"rule: {len(code)} bytes, at most {MOST_BYTES}", hint="split or simplify it")
    try:
        return _decoder.decode(code)
    except (msgspec.DecodeError, RecursionError) as error:
        raise InvalidArgumentError(f"rule: it is no graph of operations: {error}", hint="trace it again") from None


class RuleUse(Record, frozen=True):
    """A rule with the `parameters` and the `state` of one row; `code` is its graph in msgpack."""

    code: bytes
    parameters: dict[str, float] = {}
    state: dict[str, float] = {}

    @staticmethod
    def of(graph: RuleGraph, parameters: dict[str, float], state: dict[str, float]) -> "RuleUse":
        """With a graph that is not encoded yet."""
        return RuleUse(_encoder.encode(graph), parameters, state)

    @property
    def graph(self) -> RuleGraph:
        """Its operations. Raises InvalidArgumentError if `code` is none."""
        return decoded_rule(self.code)

    def broken_at(self, tokens: Iterable[int]) -> "RuleUse":
        """With tokens at which repetitions end, such as line breaks, at most 256: `row.repeated` is 0 for them, and
        finds no repetition that has one."""
        graph = msgspec.structs.replace(self.graph, breakers=tuple(sorted(set(tokens))))
        return RuleUse.of(graph, self.parameters, self.state)

    def after(self, states: Sequence[float]) -> "RuleUse":
        """For the next token: with the values of the graph's states, in their order."""
        names = [name for name, _ in self.graph.states]
        return RuleUse(self.code, self.parameters, dict(zip(names, states, strict=True)))


class Operation(NamedTuple):
    """`inputs` are the kinds an operation takes; `result` is what it results in.

    `shape` tells whether the result has the shape of the inputs together, or is always a row or a number; `cost` is
    that of one row, in additions.
    """

    inputs: tuple[Kind, ...]
    result: Kind
    shape: Literal["inputs", "row", "number"] = "inputs"
    cost: float = 1.0
    of_row: bool = False
    """Whether the first input must be a row."""


_F: Kind = "float"
_REDUCTION = Operation((_F,), "float", "number", of_row=True)

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
    "cumulative_sum": Operation((_F,), "float", "row", cost=3.0, of_row=True),
    "mass_threshold": Operation((_F, _F, _F), "float", "number", cost=45.0, of_row=True),
    "at": Operation((_F, "integer"), "float", "number", of_row=True),
    "gather": Operation((_F, "integer"), "float", "row", cost=4.0, of_row=True),
    "scatter": Operation((_F, "integer", _F), "float", "row", cost=8.0, of_row=True),
    "hash": Operation(("integer",) * 3, "float", cost=3.0),
    "to_float": Operation(("integer",), "float"),
    "to_integer": Operation((_F,), "integer"),
}
"""Every operation by its name. `mass_threshold(order, weight, mass)` is the smallest value of `order` such that the
tokens up to it have at least that share of the weight. `gather(row, ids)` is the row's value at the id of each token,
its smallest for ids that no token has; `scatter(values, ids, otherwise)` gives each token the largest of the values
whose id it is, `otherwise` where it is none. `hash` is a uniform number of [0, 1) for three integers."""

BY_TOKEN = ("gather", "scatter")
"""Operations that look tokens up by id: candidates are compared each with each."""


def result_type(operation: str, inputs: Sequence[ValueType]) -> ValueType:
    """What an operation results in. Raises InvalidArgumentError for an unknown one, or inputs of other types."""
    found = OPERATIONS.get(operation)
    if found is None:
        raise InvalidArgumentError(f"{operation}: no such operation", hint=f"known are {', '.join(OPERATIONS)}")
    kinds = tuple(each.kind for each in inputs)
    if kinds != found.inputs:
        raise InvalidArgumentError(
            f"{operation}: it takes {_listed(found.inputs)}, got {_listed(kinds)}", hint=_hint(found.inputs, kinds)
        )
    if found.of_row and not inputs[0].is_row:
        raise InvalidArgumentError(
            f"{operation} of one {inputs[0].kind}", hint="it needs a row of the vocabulary, such as the logits"
        )
    is_row = any(each.is_row for each in inputs) if found.shape == "inputs" else found.shape == "row"
    return ValueType(found.result, is_row)


def _listed(kinds: Sequence[str]) -> str:
    return " and ".join(kinds) or "nothing"


def _hint(wanted: Sequence[str], got: Sequence[str]) -> str:
    wrong = [pair for pair in zip(wanted, got, strict=False) if pair[0] != pair[1]]
    if any(found == "condition" for _, found in wrong):
        return "choose between two values with where(condition, a, b)"
    if any(kind == "condition" for kind, _ in wrong):
        return "compare two values, such as x > y"
    return "convert it with to_float or to_integer"
