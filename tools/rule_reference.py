"""The format of rules, from the table that the SDK and the engine share."""

from collections.abc import Iterator
from pathlib import Path

import pie_mlx.wasm
from pie_mlx.calls import (
    MOST_BREAKERS,
    MOST_BYTES,
    MOST_CANDIDATES,
    MOST_COST,
    MOST_OPERATIONS,
    MOST_OTHERS,
    MOST_STATES,
    MOST_WEIGHTS,
    OPERATIONS,
)
from pie_mlx.calls.rule import Operation

_WIT = Path(pie_mlx.wasm.__file__).with_name("wit") / "rules.wit"
_SHAPES = {"inputs": "a row or vector if an input is one", "row": "a row", "number": "a number", "vector": "a vector"}


def rule_lines() -> Iterator[str]:
    """How a rule is written down, and every operation."""
    yield "A rule travels inside a sampler: `rule = {code, parameters, state, vectors}`. `code` is its graph in"
    yield "msgpack; `parameters` and `state` have a number for each name in it, `vectors` a vector. The"
    yield "[guide](../guide/rules.md) says what rules are for."
    yield ""
    yield "The graph is a map: `nodes`, a list of operations; `answer`, the index of the one that is the new row of"
    yield "logits; `states`, a list of pairs of a name and the index of its next value; `until`, the index of a"
    yield "condition that ends the text; `candidates`, 0 for the whole vocabulary; `name`, for messages; `version`;"
    yield "`others`, names of the other contexts whose rows it reads; `breakers`, tokens that are in no repetition,"
    yield "for `repeated`; `arrays`, of the operations that name one. A node is a list: operation, indices of its"
    yield "inputs, which come before it, value (of a constant; the index of an array), name (of a parameter, state"
    yield "or other context), line. Fields may be left out if they have their default."
    yield ""
    yield "`version` is 1, and 2 for rules that have vectors, which an engine that reads 1 alone refuses. A vector is"
    yield "the row's `hidden` state after the last norm, what the output head is given; `other_hidden`, that of another"
    yield "context's row; a `vector_parameter`, which is as wide; a `vector` of the rule's own; or what operations make"
    yield "of these. Vectors of one operation are equally wide, and none meets a row. An array is a list: its width,"
    yield "and its float32 numbers as bytes, little-endian. `vector` names one of that many numbers, `matmul` one with"
    yield "a vector for each number of the result. A vector of `vectors` is the bytes of its float32 numbers, too."
    yield ""
    yield "A pass whose rule reads rows of others names these contexts in `others`, in the order of the graph. Each"
    yield "has `context`, its `tokens`, `adapter` and `zo_seed`. Each computes at most 32 inputs; they draw one token,"
    yield "and all go on with it."
    yield ""
    yield f"At most {MOST_OPERATIONS} operations, {MOST_BYTES} bytes, {MOST_STATES} states, {MOST_OTHERS} others,"
    yield f"{MOST_BREAKERS} breakers, {MOST_CANDIDATES} candidates, {MOST_WEIGHTS} numbers in arrays, which are not"
    yield f"among the bytes, and a cost of {MOST_COST:.0f}. Operations on numbers alone cost nothing, those on vectors"
    yield "as many 65536ths as they have numbers, at least a 16th, and 1 for each 16384 numbers of an array. At most"
    yield "16 rows are needed at once, of which vectors are such parts."
    yield ""
    yield "| operation | inputs | result | cost |"
    yield "|---|---|---|---:|"
    yield from (_line(name, operation) for name, operation in OPERATIONS.items())
    yield "\n## In WebAssembly\n"
    yield "A [component](../guide/components.md#rules-on-the-device) brings the bytes of a graph through this"
    yield "interface. Its values are parameters or states as the graph names them.\n"
    yield f"```\n{_WIT.read_text(encoding='utf-8').rstrip()}\n```"


def _line(name: str, operation: Operation) -> str:
    inputs = ", ".join(operation.inputs) or "—"
    if operation.of != "anything":
        inputs = f"{operation.of} of {inputs}"
    return f"| `{name}` | {inputs} | {operation.result}, {_SHAPES[operation.shape]} | {operation.cost:g} |"
