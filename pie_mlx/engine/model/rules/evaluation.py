"""The operations of a rule on arrays: one by one, or as one function that the device compiles."""

import functools
from collections.abc import Callable, Sequence
from typing import Any, cast

import mlx.core as mx
import numpy as np

from pie_mlx.calls import RuleArray, RuleGraph, RuleNode, decoded_rule, remembered
from pie_mlx.engine.model.rules.by_token import at_token, gather, scatter
from pie_mlx.engine.model.rules.checking import reached
from pie_mlx.engine.model.rules.operations import ARRAY_OPERATIONS
from pie_mlx.metal.arrays import from_host

RowFunction = Callable[[list[mx.array]], mx.array]

CONSTANTS = ("constant", "vector")
"""Operations without inputs whose results are the rule's own."""

MOST_COMPILED = 256
"""Rules that stay compiled."""

compile_function = cast("Callable[[RowFunction], RowFunction]", cast("Any", mx).compile)


def computed(
    graph: RuleGraph, node: RuleNode, inputs: Sequence[mx.array], chosen: mx.array | None, vocabulary: int
) -> mx.array:
    """The result of an operation that is no source. `chosen` int32 [rows, candidates] are the candidates' ids."""
    if (array := graph.array_of(node)) is not None:
        held = held_array(array)
        return inputs[0] @ held.T if inputs else held
    match node.operation:
        case "constant":
            return mx.array([[node.value]], dtype=mx.float32)
        case "at":
            return at_token(inputs[0], inputs[1], chosen)
        case "gather":
            return gather(inputs[0], inputs[1], chosen)
        case "scatter":
            return scatter(inputs[0], inputs[1], inputs[2], chosen, vocabulary)
        case "element":
            return at_token(inputs[0], inputs[1], None)
        case operation:
            return ARRAY_OPERATIONS[operation](*inputs)


@functools.lru_cache(maxsize=64)
def held_array(array: RuleArray) -> mx.array:
    """The numbers of a constant, float32 [vectors, width]: copied to the device once."""
    return from_host(np.frombuffer(array.data, "<f4").reshape(-1, array.width))


@remembered
def sources_of(code: bytes) -> tuple[int, ...]:
    """The places of what a rule's answer reads of a row."""
    graph = decoded_rule(code)
    ends = [place for place in sorted(reached(graph, [graph.answer])) if not graph.nodes[place].inputs]
    return tuple(place for place in ends if graph.nodes[place].operation not in CONSTANTS)


@remembered
def reads_random(code: bytes) -> bool:
    """Whether a rule reads the random number of its row."""
    return any([node.operation == "random" for node in decoded_rule(code).nodes])


@remembered
def probabilities_of(code: bytes) -> frozenset[int]:
    """The places of the row's own probabilities, computed as the SDK does: e to the power of log-probabilities."""
    nodes = decoded_rule(code).nodes
    logs = [
        node.operation == "subtract" and [nodes[place].operation for place in node.inputs] == ["logits", "log_total"]
        for node in nodes
    ]
    return frozenset(place for place, node in enumerate(nodes) if node.operation == "exp" and logs[node.inputs[0]])


@functools.lru_cache(maxsize=MOST_COMPILED)
def compiled_answer(code: bytes, chooses: bool, vocabulary: int) -> RowFunction:
    """The answer of a rule as a compiled function of the results at `sources_of` it, and, if the rule `chooses`
    candidates, of their ids after these. MLX compiles it again for each other number of rows: give few."""
    graph, sources = decoded_rule(code), sources_of(code)

    def answer(given: list[mx.array]) -> mx.array:
        known = dict(zip(sources, given, strict=False))
        chosen = given[-1] if chooses else None

        def value(place: int) -> mx.array:
            if place not in known:
                node = graph.nodes[place]
                known[place] = computed(graph, node, [value(index) for index in node.inputs], chosen, vocabulary)
            return known[place]

        return value(graph.answer)

    return compile_function(answer)
