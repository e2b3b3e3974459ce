"""Whether a rule may run. What arrives is data of a stranger, as nothing proves that the SDK traced it."""

import functools
import math
from collections.abc import Iterable, Mapping, Sequence

from pie_mlx.calls import (
    BY_TOKEN,
    MOST_BREAKERS,
    MOST_CANDIDATES,
    MOST_COST,
    MOST_OPERATIONS,
    MOST_OTHERS,
    MOST_STATES,
    OPERATIONS,
    RuleGraph,
    RuleNode,
    RuleUse,
    ValueType,
    decoded_rule,
    result_type,
)
from pie_mlx.errors import InvalidArgumentError

MOST_LIVE_ROWS = 16
"""Rows of the vocabulary that a rule may need at once, for each row of the batch."""

_OTHERS = {"other_logits", "other_log_total"}
_NAMED = {"parameter", "integer_parameter", "state", "integer_state"} | _OTHERS
_CANDIDATE_SHARE = 1 / 64
"""What an operation over the candidates costs of one over the vocabulary, roughly."""
_CHOICE_COST = 45.0
"""Finding the candidates and putting them in order."""
_PAIRS_COST = 1 << 15
"""Pairs of candidates that are compared for the cost of an addition of a row."""


def check_use(use: RuleUse) -> None:
    """Raises InvalidArgumentError for a graph that may not run, and for parameters or states that are missing, unknown
    or no numbers."""
    parameters, states = _checked(use.code)
    _check_values(use.graph, "parameter", parameters, use.parameters)
    _check_values(use.graph, "state", states, use.state)


@functools.lru_cache(maxsize=1024)
def _checked(code: bytes) -> tuple[set[str], set[str]]:
    """The parameters and the states of a rule that may run. Raises InvalidArgumentError for any other."""
    graph = decoded_rule(code)
    check_graph(graph)
    return _named(graph.nodes, "parameter"), _named(graph.nodes, "state") | set(dict(graph.states))


def check_graph(graph: RuleGraph) -> None:
    """Raises InvalidArgumentError for operations and types that do not fit, and for more work or memory than a rule may
    take."""
    if graph.version != 1:
        raise _refusal(graph, f"version {graph.version} of the format, this engine reads 1", "update the engine")
    if len(graph.nodes) > MOST_OPERATIONS:
        raise _refusal(graph, f"{len(graph.nodes)} operations, at most {MOST_OPERATIONS}", "split or simplify it")
    if not 0 <= graph.candidates <= MOST_CANDIDATES:
        raise _refusal(graph, f"{graph.candidates} candidates, at most {MOST_CANDIDATES}", "look at fewer tokens")
    if len(graph.breakers) > MOST_BREAKERS:
        raise _refusal(graph, f"{len(graph.breakers)} breakers, at most {MOST_BREAKERS}", "break at fewer tokens")
    if not all(0 <= token < 1 << 31 for token in graph.breakers):
        raise _refusal(graph, "a breaker that is no token", "give token ids")
    _check_others(graph)
    types = _types(graph)
    _check_results(graph, types)
    rows, cost = _live_rows(graph, types), _cost(graph, types)
    if rows > MOST_LIVE_ROWS:
        raise _refusal(
            graph, f"it needs {rows} rows of the vocabulary at once, at most {MOST_LIVE_ROWS}", "reuse fewer rows"
        )
    if cost > MOST_COST:
        raise _refusal(
            graph,
            f"a step costs as much as {cost:.0f} additions of a row, at most {MOST_COST:.0f}",
            "look at the most likely tokens only: @rule(candidates=256)",
        )


def _check_others(graph: RuleGraph) -> None:
    if len(graph.others) > MOST_OTHERS or len(set(graph.others)) < len(graph.others):
        raise _refusal(
            graph, f"{len(graph.others)} other contexts, at most {MOST_OTHERS} of different names", "read fewer rows"
        )
    read = {node.name for node in graph.nodes if node.operation in _OTHERS}
    if unknown := read.difference(graph.others):
        raise _refusal(graph, f"it reads rows of {', '.join(sorted(unknown))}", "name them in `others`")


def _types(graph: RuleGraph) -> list[ValueType]:
    types: list[ValueType] = []
    for index, node in enumerate(graph.nodes):
        if not all(0 <= place < index for place in node.inputs):
            raise _refusal(graph, f"operation {index} reads a result that is not there yet", "list inputs first")
        try:
            types.append(result_type(node.operation, [types[place] for place in node.inputs]))
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
        if types[place].is_row or types[place].kind == "condition":
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


def _live_rows(graph: RuleGraph, types: Sequence[ValueType]) -> int:
    """The most rows that are needed at once, if operations run in their order."""
    last = {place: index for index, node in enumerate(graph.nodes) for place in node.inputs}
    last[graph.answer] = len(graph.nodes)
    live, most = set[int](), 0
    for index in range(len(graph.nodes)):
        if types[index].is_row:
            live.add(index)
        most = max(most, len(live))
        live = {place for place in live if last.get(place, index) > index}
    return most


def _cost(graph: RuleGraph, types: Sequence[ValueType]) -> float:
    cost = sum(
        OPERATIONS[node.operation].cost
        for node, found in zip(graph.nodes, types, strict=True)
        if found.is_row or any(types[place].is_row for place in node.inputs)
    )
    if not graph.candidates:
        return cost
    compared = sum(node.operation in BY_TOKEN for node in graph.nodes) * graph.candidates**2
    return cost * _CANDIDATE_SHARE + _CHOICE_COST + compared / _PAIRS_COST


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
