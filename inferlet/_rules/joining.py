"""Two rules as one: what changes the logits of a text, and what ends it."""

from msgspec.structs import replace

from pie_mlx.calls import RuleArray, RuleGraph, RuleNode, RuleUse
from pie_mlx.errors import InvalidArgumentError

_PREFIX = "until "
"""Before the names of what the second rule reads and carries, which the first one may use as well."""


def with_end(use: RuleUse | None, until: RuleUse) -> RuleUse:
    """A rule that changes the logits as `use` does, and ends the text where `until` does; both see the row as it was.

    Raises InvalidArgumentError for an `until` that ends nothing or changes logits, for two that see other candidates
    or break repetitions at other tokens, and for a second one.
    """
    end = until.graph
    if end.until is None:
        raise _refusal(end, "it ends no text", "answer a condition, such as row.entropy > nats")
    if end.nodes[end.answer].operation != "logits" or end.others:
        raise _refusal(
            end, "it changes the logits, or reads rows of others", "give it to the sampler: sampler.ruled(...)"
        )
    if use is None:
        return until
    first = use.graph
    if first.until is not None:
        raise _refusal(end, f"{first.name} ends the text already", "join the two conditions in one rule")
    if first.candidates != end.candidates:
        raise _refusal(
            end, f"it sees {end.candidates} candidates, {first.name} {first.candidates}", "let both see as many"
        )
    if first.breakers != end.breakers and any(node.operation == "repeated" for node in end.nodes):
        raise _refusal(end, f"its repetitions end at other tokens than those of {first.name}", "let both break alike")
    nodes, arrays, moved = list(first.nodes), list(first.arrays), list[int]()
    known = {_key(node): place for place, node in enumerate(first.nodes)}
    for node in end.nodes:
        name = _PREFIX + node.name if node.name else ""
        array = end.array_of(node)
        value = node.value if array is None else _place_of(array, arrays)
        own = RuleNode(node.operation, tuple(moved[place] for place in node.inputs), value, name, node.line)
        place = known.setdefault(_key(own), len(nodes))
        if place == len(nodes):
            nodes.append(own)
        moved.append(place)
    states = [(_PREFIX + name, moved[place]) for name, place in end.states]
    graph = replace(
        first,
        nodes=tuple(nodes),
        states=(*first.states, *states),
        until=moved[end.until],
        version=max(first.version, end.version),
        arrays=tuple(arrays),
    )
    return RuleUse.of(
        graph,
        use.parameters | {_PREFIX + name: value for name, value in until.parameters.items()},
        use.state | {_PREFIX + name: value for name, value in until.state.items()},
        use.vectors | {_PREFIX + name: value for name, value in until.vectors.items()},
    )


def _place_of(array: RuleArray, arrays: list[RuleArray]) -> float:
    """The place of an array of the second rule among those of both."""
    if array not in arrays:
        arrays.append(array)
    return float(arrays.index(array))


def _key(node: RuleNode) -> tuple[str, tuple[int, ...], float, str]:
    """What makes two operations the same one: all but the line."""
    return node.operation, node.inputs, node.value, node.name


def _refusal(graph: RuleGraph, what: str, hint: str) -> InvalidArgumentError:
    return InvalidArgumentError(f"until: rule {graph.name}: {what}", hint=hint)
