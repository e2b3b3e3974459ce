"""The format of rules, from the table that the SDK and the engine share."""

from collections.abc import Iterator

from pie_mlx.calls import (
    MOST_BREAKERS,
    MOST_BYTES,
    MOST_CANDIDATES,
    MOST_COST,
    MOST_OPERATIONS,
    MOST_OTHERS,
    MOST_STATES,
    OPERATIONS,
)
from pie_mlx.calls.rule import Operation

_SHAPES = {"inputs": "a row if an input is one", "row": "a row", "number": "a number"}


def rule_lines() -> Iterator[str]:
    """How a rule is written down, and every operation."""
    yield "A rule travels inside a sampler: `rule = {code, parameters, state}`. `code` is its graph in msgpack;"
    yield "`parameters` and `state` have a number for each name in it. The [guide](../guide/rules.md) says what"
    yield "rules are for."
    yield ""
    yield "The graph is a map: `nodes`, a list of operations; `answer`, the index of the one that is the new row of"
    yield "logits; `states`, a list of pairs of a name and the index of its next value; `until`, the index of a"
    yield "condition that ends the text; `candidates`, 0 for the whole vocabulary; `name`, for messages; `version`,"
    yield "1; `others`, names of the other contexts whose rows it reads; `breakers`, tokens that are in no repetition,"
    yield "for `repeated`. A node is a list: operation, indices of its inputs, which come before it, value (of a"
    yield "constant), name (of a parameter, state or other context), line."
    yield "Fields may be left out if they have their default."
    yield ""
    yield "A pass whose rule reads rows of others names these contexts in `others`, in the order of the graph. Each"
    yield "has `context`, its `tokens`, `adapter` and `zo_seed`. Each computes at most 32 inputs; they draw one token,"
    yield "and all go on with it."
    yield ""
    yield f"At most {MOST_OPERATIONS} operations, {MOST_BYTES} bytes, {MOST_STATES} states, {MOST_OTHERS} others,"
    yield f"{MOST_BREAKERS} breakers, {MOST_CANDIDATES} candidates and a cost of {MOST_COST:.0f}; operations on numbers"
    yield "alone cost nothing."
    yield ""
    yield "| operation | inputs | result | cost |"
    yield "|---|---|---|---:|"
    yield from (_line(name, operation) for name, operation in OPERATIONS.items())


def _line(name: str, operation: Operation) -> str:
    inputs = ", ".join(operation.inputs) or "—"
    if operation.of_row:
        inputs = f"row of {inputs}"
    return f"| `{name}` | {inputs} | {operation.result}, {_SHAPES[operation.shape]} | {operation.cost:g} |"
