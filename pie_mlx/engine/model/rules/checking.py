"""Whether a rule may run. What arrives is data of a stranger, as nothing proves that the SDK traced it."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from pie_mlx.calls import (
    BY_TOKEN,
    MOST_BREAKERS,
    MOST_CANDIDATES,
    MOST_COST,
    MOST_OPERATIONS,
    MOST_OTHERS,
    MOST_STATES,
    MOST_WEIGHTS,
    OPERATIONS,
    VECTOR_VERSION,
    VERSION,
    ModelInfo,
    RuleGraph,
    RuleNode,
    RuleTypes,
    RuleUse,
    ValueType,
    decoded_rule,
    remembered,
)
from pie_mlx.errors import InvalidArgumentError

MOST_LIVE_ROWS = 16
"""Rows of the vocabulary that a rule may need at once, for each row of the batch."""

_OTHERS = {"other_logits", "other_log_total", "other_hidden"}
_NAMED = {"parameter", "integer_parameter", "state", "integer_state", "vector_parameter"} | _OTHERS
_OF_MODEL = {"hidden", "other_hidden", "vector_parameter"}
"""Vectors as wide as the model."""
_CANDIDATE_SHARE = 1 / 64
"""What an operation over the candidates costs of one over the vocabulary, roughly."""
_CHOICE_COST = 45.0
"""Finding the candidates and putting them in order."""
_PAIRS_COST = 1 << 15
"""Pairs of candidates that are compared for the cost of an addition of a row."""
_ROW_NUMBERS, _LEAST_VECTOR = 1 << 16, 1 << 12
"""Of a row of the vocabulary and of a hidden state, roughly: vectors cost and hold in memory parts of a row."""
_WEIGHTS_COST = 1 << 14
"""Numbers of a matrix that are multiplied for the cost of an addition of a row."""


class _Names(NamedTuple):
    """What a rule that may run must be given. `width` is that of hidden states as far as it knows it, 0 if any will do,
    None if it has no vector that is as wide as the model."""

    parameters: set[str]
    states: set[str]
    vectors: set[str]
    width: int | None


def check_use(use: RuleUse, model: ModelInfo) -> None:
    """Raises InvalidArgumentError for a graph that may not run, and for parameters or states that are missing, unknown
    or no numbers, and vectors that are not as wide as the hidden states of `model`."""
    names = _checked(use.code)
    _check_values(use.graph, "parameter", names.parameters, use.parameters)
    _check_values(use.graph, "state", names.states, use.state)
    if use.vectors or names.width is not None:
        _check_vectors(use, names, model)


@remembered
def _checked(code: bytes) -> _Names:
    """What a rule that may run needs. Raises InvalidArgumentError for any other."""
    graph = decoded_rule(code)
    width, nodes = check_graph(graph), graph.nodes
    vectors = {node.name for node in nodes if node.operation == "vector_parameter"}
    reads_model = any(node.operation in _OF_MODEL for node in nodes)
    states = _named(nodes, "state") | set(dict(graph.states))
    return _Names(_named(nodes, "parameter"), states, vectors, width if reads_model else None)


def _check_vectors(use: RuleUse, names: _Names, model: ModelInfo) -> None:
    graph, width = use.graph, model.hidden_size
    if wrong := names.vectors.symmetric_difference(use.vectors):
        raise _refusal(
            graph, f"vectors missing or unknown: {', '.join(sorted(wrong))}", f"its vectors are {sorted(names.vectors)}"
        )
    if not width:
        raise _refusal(
            graph,
            f"it reads hidden states, but where {model.name} ends in its output head was not found",
            "use another model",
        )
    if names.width and names.width != width:
        raise _refusal(
            graph,
            f"its vectors have {names.width} numbers, a hidden state of {model.name} {width}",
            "use weights that were found with this model",
        )
    for name, vector in use.vectors.items():
        if len(vector) != 4 * width:
            what = f"vector {name} has {len(vector) // 4} numbers, a hidden state of {model.name} {width}"
            raise _refusal(graph, what, "pass as many numbers as the model is wide")
        if not np.isfinite(np.frombuffer(vector, "<f4")).all():
            raise _refusal(graph, f"vector {name} has a number that is not finite", "pass finite numbers")


def check_graph(graph: RuleGraph) -> int:
    """The width that the rule expects of hidden states, 0 if any will do.

    Raises InvalidArgumentError for operations and types that do not fit, and for more work or memory than a rule may
    take.
    """
    if graph.version not in (VERSION, VECTOR_VERSION):
        raise _refusal(
            graph,
            f"version {graph.version} of the format, this engine reads {VERSION} and {VECTOR_VERSION}",
            "update the engine",
        )
    if graph.version == VERSION and (graph.has_vectors or graph.arrays):
        raise _refusal(graph, f"version {VERSION} of the format has no vectors", f"write version {VECTOR_VERSION}")
    if len(graph.nodes) > MOST_OPERATIONS:
        raise _refusal(graph, f"{len(graph.nodes)} operations, at most {MOST_OPERATIONS}", "split or simplify it")
    if not 0 <= graph.candidates <= MOST_CANDIDATES:
        raise _refusal(graph, f"{graph.candidates} candidates, at most {MOST_CANDIDATES}", "look at fewer tokens")
    if len(graph.breakers) > MOST_BREAKERS:
        raise _refusal(graph, f"{len(graph.breakers)} breakers, at most {MOST_BREAKERS}", "break at fewer tokens")
    if not all(0 <= token < 1 << 31 for token in graph.breakers):
        raise _refusal(graph, "a breaker that is no token", "give token ids")
    _check_others(graph)
    _check_arrays(graph)
    found = _types(graph)
    types = found.types
    _check_results(graph, types)
    rows, cost = _live_rows(graph, types), _cost(graph, types)
    if rows > MOST_LIVE_ROWS:
        raise _refusal(
            graph, f"it needs {rows:.3g} rows of the vocabulary at once, at most {MOST_LIVE_ROWS}", "reuse fewer rows"
        )
    if cost > MOST_COST:
        raise _refusal(
            graph,
            f"a step costs as much as {cost:.0f} additions of a row, at most {MOST_COST:.0f}",
            "look at the most likely tokens only: @rule(candidates=256)",
        )
    return found.width


def _check_others(graph: RuleGraph) -> None:
    if len(graph.others) > MOST_OTHERS or len(set(graph.others)) < len(graph.others):
        raise _refusal(
            graph, f"{len(graph.others)} other contexts, at most {MOST_OTHERS} of different names", "read fewer rows"
        )
    read = {node.name for node in graph.nodes if node.operation in _OTHERS}
    if unknown := read.difference(graph.others):
        raise _refusal(graph, f"it reads rows of {', '.join(sorted(unknown))}", "name them in `others`")


def _check_arrays(graph: RuleGraph) -> None:
    weights = sum(len(array.data) for array in graph.arrays) // 4
    if weights > MOST_WEIGHTS:
        raise _refusal(graph, f"arrays of {weights} numbers, at most {MOST_WEIGHTS}", "use fewer outputs")
    if not all(array.rows and np.isfinite(np.frombuffer(array.data, "<f4")).all() for array in graph.arrays):
        raise _refusal(graph, "an array that is no vectors of finite numbers", "trace the rule again")


def _types(graph: RuleGraph) -> RuleTypes:
    types = RuleTypes()
    for index, node in enumerate(graph.nodes):
        if not all(0 <= place < index for place in node.inputs):
            raise _refusal(graph, f"operation {index} reads a result that is not there yet", "list inputs first")
        try:
            types.add(node.operation, node.inputs, graph.array_of(node))
        except InvalidArgumentError as error:
            raise _refusal(graph, f"line {node.line}: {error.message}", error.hint or "") from None
        if (node.operation in _NAMED) != bool(node.name) or math.isnan(node.value):
            raise _refusal(graph, f"operation {index}, {node.operation}: a bad name or value", "trace the rule again")
    return types


def _check_results(graph: RuleGraph, types: Sequence[ValueType]) -> None:
    places = [graph.answer, *(place for _, place in graph.states)]
    places += [] if graph.until is None else [graph.until]
    if not all(0 <= place < len(types) for place in places):
        raise _refusal(graph, "an answer or a state that no operation computes", "trace the rule again")
    if types[graph.answer] != ValueType("float", True):
        raise _refusal(graph, f"it answers {types[graph.answer]}", "answer a row of logits")
    if "drawn" in {graph.nodes[place].operation for place in reached(graph, [graph.answer])}:
        raise _refusal(graph, "its logits depend on the token drawn from them", "only states may depend on `drawn`")
    if len(graph.states) > MOST_STATES or len(dict(graph.states)) < len(graph.states):
        raise _refusal(graph, f"{len(graph.states)} states, at most {MOST_STATES} of different names", "carry fewer")
    if graph.until is not None and types[graph.until] != ValueType("condition", False):
        raise _refusal(graph, f"it ends the text on {types[graph.until]}", "end it on one condition")
    for name, place in graph.states:
        if types[place] not in (ValueType("float", False), ValueType("integer", False)):
            raise _refusal(graph, f"state {name} is {types[place]}", "carry numbers")
    unknown = _named(graph.nodes, "state") - {name for name, _ in graph.states}
    if unknown:
        raise _refusal(graph, f"it reads states that it does not return: {', '.join(sorted(unknown))}", "return them")


def reached(graph: RuleGraph, places: Iterable[int]) -> set[int]:
    """The operations that those at `places` depend on, with themselves."""
    found, open_places = set[int](), list(places)
    while open_places:
        place = open_places.pop()
        if place not in found:
            found.add(place)
            open_places += graph.nodes[place].inputs
    return found


def _live_rows(graph: RuleGraph, types: Sequence[ValueType]) -> float:
    """The most rows that are needed at once, if operations run in their order; vectors are parts of one."""
    last = {place: index for index, node in enumerate(graph.nodes) for place in node.inputs}
    last[graph.answer] = len(graph.nodes)
    live, most = dict[int, float](), 0.0
    for index, found in enumerate(types):
        live[index] = _part_of_row(found)
        most = max(most, sum(live.values()))
        live = {place: part for place, part in live.items() if last.get(place, index) > index}
    return most


def _part_of_row(found: ValueType) -> float:
    if found.width is None:
        return float(found.is_row)
    return max(found.width, _LEAST_VECTOR) / _ROW_NUMBERS


def _cost(graph: RuleGraph, types: Sequence[ValueType]) -> float:
    cost = of_vectors = 0.0
    for node, found in zip(graph.nodes, types, strict=True):
        shapes = [found, *[types[place] for place in node.inputs]]
        if any(each.is_row for each in shapes):
            cost += OPERATIONS[node.operation].cost
        elif any(each.is_vector for each in shapes):
            of_vectors += OPERATIONS[node.operation].cost * max(map(_part_of_row, shapes))
            array = graph.array_of(node)
            of_vectors += len(array.data) / 4 / _WEIGHTS_COST if array else 0.0
    if not graph.candidates:
        return cost + of_vectors
    compared = sum(node.operation in BY_TOKEN for node in graph.nodes) * graph.candidates**2
    return cost * _CANDIDATE_SHARE + of_vectors + _CHOICE_COST + compared / _PAIRS_COST


def _named(nodes: Sequence[RuleNode], what: str) -> set[str]:
    return {node.name for node in nodes if node.operation in (what, f"integer_{what}")}


def _check_values(graph: RuleGraph, what: str, names: set[str], values: Mapping[str, float]) -> None:
    wrong = names.symmetric_difference(values)
    if wrong:
        raise _refusal(
            graph, f"{what}s missing or unknown: {', '.join(sorted(wrong))}", f"its {what}s are {sorted(names)}"
        )
    for name, value in values.items():
        if not math.isfinite(value):
            raise _refusal(graph, f"{what} {name} is {value}", "pass a finite number")


def _refusal(graph: RuleGraph, what: str, hint: str) -> InvalidArgumentError:
    return InvalidArgumentError(f"rule {graph.name}: {what}", hint=hint)
