"""The operations of a rule on arrays: one by one, or as one function that the device compiles."""

import functools
from collections.abc import Callable, Sequence
from typing import Any, cast

import mlx.core as mx

from pie_mlx.calls import RuleNode, decoded_rule
from pie_mlx.engine.model.rules.by_token import at_token, gather, scatter
from pie_mlx.engine.model.rules.operations import ARRAY_OPERATIONS

RowFunction = Callable[[list[mx.array]], mx.array]

compile_function = cast("Callable[[RowFunction], RowFunction]", cast("Any", mx).compile)


def computed(node: RuleNode, inputs: Sequence[mx.array], chosen: mx.array | None, vocabulary: int) -> mx.array:
    """The result of an operation that is no source. `chosen` int32 [rows, candidates] are the candidates' ids."""
    match node.operation:
        case "constant":
            return mx.array([[node.value]], dtype=mx.float32)
        case "at":
            return at_token(inputs[0], inputs[1], chosen)
        case "gather":
            return gather(inputs[0], inputs[1], chosen)
        case "scatter":
            return scatter(inputs[0], inputs[1], inputs[2], chosen, vocabulary)
        case operation:
            return ARRAY_OPERATIONS[operation](*inputs)


@functools.lru_cache(maxsize=256)
def compiled_answer(code: bytes, sources: tuple[int, ...], chooses: bool, vocabulary: int) -> RowFunction:
    """The answer of a rule as a compiled function of the results at `sources`, and, if the rule `chooses` candidates,
    of their ids after these. MLX compiles it again for each other number of rows: give few."""
    graph = decoded_rule(code)

    def answer(given: list[mx.array]) -> mx.array:
        known = dict(zip(sources, given, strict=False))
        chosen = given[-1] if chooses else None

        def value(place: int) -> mx.array:
            if place not in known:
                node = graph.nodes[place]
                known[place] = computed(node, [value(index) for index in node.inputs], chosen, vocabulary)
            return known[place]

        return value(graph.answer)

    return compile_function(answer)
