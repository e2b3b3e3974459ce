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

Computation = Callable[[Sequence[mx.array], mx.array | None, int], mx.array]
"""The result of an operation on the results of its inputs, int32 [rows, candidates] the ids of the candidates, and the
size of the vocabulary."""

MOST_COMPILED = 256
"""Rules that stay compiled."""

compile_function = cast("Callable[[RowFunction], RowFunction]", cast("Any", mx).compile)


@remembered
def computations_of(code: bytes) -> tuple[Computation | None, ...]:
    """How each operation of a rule is computed; None for sources."""
    graph = decoded_rule(code)
    return tuple(_computation(graph, node) for node in graph.nodes)


def _computation(graph: RuleGraph, node: RuleNode) -> Computation | None:
    if (array := graph.array_of(node)) is not None:
        return (lambda inputs, *_: inputs[0] @ held_array(array).T) if node.inputs else (lambda *_: held_array(array))
    match node.operation:
        case "constant":
            held = mx.array([[node.value]], dtype=mx.float32)
            return lambda *_: held
        case "at":
            return lambda inputs, chosen, _: at_token(*inputs, chosen)
        case "gather":
            return lambda inputs, chosen, _: gather(*inputs, chosen)
        case "scatter":
            return lambda inputs, chosen, vocabulary: scatter(*inputs, chosen, vocabulary)
        case "element":
            return lambda inputs, *_: at_token(*inputs, None)
        case operation if node.inputs:
            function = ARRAY_OPERATIONS[operation]
            return lambda inputs, *_: function(*inputs)
        case _:
            return None


@functools.lru_cache(maxsize=64)
def held_array(array: RuleArray) -> mx.array:
    """The numbers of a constant, float32 [vectors, width]: copied to the device once."""
    return from_host(np.frombuffer(array.data, "<f4").reshape(-1, array.width))


@remembered
def sources_of(code: bytes) -> tuple[int, ...]:
    """The places of what a rule's answer reads of a row."""
    graph, computations = decoded_rule(code), computations_of(code)
    return tuple(place for place in sorted(reached(graph, [graph.answer])) if computations[place] is None)


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
    graph, sources, computations = decoded_rule(code), sources_of(code), computations_of(code)

    def answer(given: list[mx.array]) -> mx.array:
        known = dict(zip(sources, given, strict=False))
        chosen = given[-1] if chooses else None

        def value(place: int) -> mx.array:
            compute = computations[place]
            if place not in known and compute is not None:
                known[place] = compute([value(index) for index in graph.nodes[place].inputs], chosen, vocabulary)
            return known[place]

        return value(graph.answer)

    return compile_function(answer)
