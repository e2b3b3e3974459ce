"""Which rules may run: whatever bytes a program sends."""

import contextlib
from collections.abc import Sequence
from random import Random

import mlx.core as mx
import msgspec
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from inferlet import rule, rules
from inferlet.rules import Number, Row, Value, Vector
from pie_mlx.calls import (
    MOST_WEIGHTS,
    OPERATIONS,
    Formats,
    ModelInfo,
    RuleArray,
    RuleGraph,
    RuleNode,
    RuleTypes,
    RuleUse,
    ValueType,
)
from pie_mlx.calls.rule import ARRAY_OPERATIONS
from pie_mlx.engine.model.rules.checking import check_graph, check_use
from pie_mlx.engine.model.rules.run import RuledRow, RuleRun
from pie_mlx.errors import InvalidArgumentError

MODEL = ModelInfo("m", 512, 16, 4096, Formats([]), hidden_size=3)
LOGITS, HIDDEN = RuleNode("logits"), RuleNode("hidden")
THREE = RuleArray(3, np.ones(3, np.float32).tobytes())


def graph(*nodes: RuleNode, **fields: object) -> RuleGraph:
    return RuleGraph(nodes, **{"answer": len(nodes) - 1, **fields})  # type: ignore[arg-type]


def with_vectors(*nodes: RuleNode, arrays: Sequence[RuleArray] = (THREE,), **fields: object) -> RuleGraph:
    return graph(*nodes, version=2, arrays=tuple(arrays), **fields)


@rule
def aimed(row: Row, direction: Vector, most: Number = 0.0) -> Value:
    return row.hidden_state.dot(direction) > most


@rule
def weighed(row: Row) -> Value:
    return row.hidden_state.dot([1, 2]) > 0.0


@pytest.mark.parametrize("name", ["min_p", "top_n_sigma", "eta", "typical", "xtc", "entropy_temperature", "watermark"])
def test_the_rules_of_the_library_may_run(name: str) -> None:
    check_graph(getattr(rules, name).graph)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (graph(RuleNode("reboot")), "reboot: no such operation"),
        (graph(LOGITS, RuleNode("exp", (1,))), "operation 1 reads a result that is not there yet"),
        (graph(LOGITS, RuleNode("exp", (-1,))), "operation 1 reads a result that is not there yet"),
        (graph(LOGITS, RuleNode("add", (0,))), "add: it takes float and float, got float"),
        (graph(LOGITS, RuleNode("max", (0,))), "it answers one float"),
        (graph(LOGITS, answer=5), "an answer or a state that no operation computes"),
        (graph(LOGITS, RuleNode("drawn"), RuleNode("to_float", (1,)), RuleNode("add", (0, 2))), "depend on the token"),
        (graph(LOGITS, states=(("mu", 0),)), "state mu is a row of floats"),
        (graph(LOGITS, RuleNode("state", name="mu"), answer=0), "reads states that it does not return: mu"),
        (graph(LOGITS, until=0), "it ends the text on a row of floats"),
        (graph(LOGITS, until=7), "an answer or a state that no operation computes"),
        (graph(LOGITS, candidates=5_000), "5000 candidates, at most 1024"),
        (graph(LOGITS, breakers=tuple(range(300))), "300 breakers, at most 256"),
        (graph(LOGITS, breakers=(3, -1)), "a breaker that is no token"),
        (graph(LOGITS, version=3), "version 3 of the format, this engine reads 1 and 2"),
        (graph(HIDDEN, LOGITS), "version 1 of the format has no vectors"),
        (with_vectors(LOGITS, RuleNode("matmul", (0,)), answer=0), "matmul of a row of floats"),
        (
            with_vectors(HIDDEN, LOGITS, RuleNode("add", (0, 1))),
            "add of a vector of as many floats",
        ),
        (with_vectors(LOGITS, HIDDEN, RuleNode("mass_threshold", (0, 1, 1)), answer=0), "mass_threshold of a row"),
        (with_vectors(HIDDEN, RuleNode("to_integer", (0,)), RuleNode("element", (0, 1))), "its place is a vector"),
        (with_vectors(LOGITS, RuleNode("vector", value=1.0), answer=0), "no array 1"),
        (with_vectors(LOGITS, RuleNode("vector", value=0.5), answer=0), "no array 0.5"),
        (with_vectors(LOGITS, arrays=[RuleArray(3, b"\0" * 8)]), "an array that is no vectors"),
        (with_vectors(LOGITS, arrays=[RuleArray(0, b"")]), "an array that is no vectors"),
        (with_vectors(LOGITS, arrays=[RuleArray(1, np.float32(np.nan).tobytes())]), "an array that is no vectors"),
        (with_vectors(LOGITS, arrays=[RuleArray(1, bytes(4 * MOST_WEIGHTS + 4))]), "arrays of 65537 numbers"),
        (with_vectors(HIDDEN), "it answers a vector of as many floats"),
        (with_vectors(LOGITS, HIDDEN, answer=0, states=(("mu", 1),)), "state mu is a vector"),
        (graph(*[LOGITS] * 300), "300 operations, at most 256"),
        (graph(RuleNode("constant", value=float("nan")), LOGITS), "a bad name or value"),
        (graph(RuleNode("logits", name="x")), "a bad name or value"),
        (graph(LOGITS, *[RuleNode("exp", (i,)) for i in range(60)]), "costs as much as 121 additions"),
    ],
)
def test_a_graph_that_may_not_run_is_refused_by_reason(bad: RuleGraph, message: str) -> None:
    with pytest.raises(InvalidArgumentError, match="rule rule: ") as raised:
        check_graph(bad)
    assert message in str(raised.value)


def test_a_rule_that_needs_too_many_rows_at_once_is_refused() -> None:
    kept = [LOGITS, *[RuleNode("exp", (place,)) for place in range(20)]]
    joined = [*kept, *[RuleNode("add", (place, place + 1)) for place in range(20)]]
    with pytest.raises(InvalidArgumentError, match="rows of the vocabulary at once"):
        check_graph(graph(*joined))


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (msgspec.structs.replace(rules.min_p(), parameters={}), "parameters missing or unknown: p"),
        (msgspec.structs.replace(rules.min_p(), parameters={"p": 0.1, "q": 1.0}), "parameters missing or unknown: q"),
        (msgspec.structs.replace(rules.min_p(), parameters={"p": float("inf")}), "parameter p is inf"),
        (msgspec.structs.replace(rules.mirostat(), state={}), "states missing or unknown: mu"),
        (RuleUse(b"\x00"), "it is no graph of operations"),
        (RuleUse(b"\x00" * 10_000_000), "10000000 bytes, at most 278528"),
        (RuleUse.of(graph(LOGITS, name="n" * 20_000), {}, {}), "at most 16384"),
        (aimed(direction=[1, 2]), "vector direction has 2 numbers, a hidden state of m 3"),
        (msgspec.structs.replace(aimed(direction=[1, 2, 3]), vectors={}), "vectors missing or unknown: direction"),
        (msgspec.structs.replace(rules.min_p(), vectors={"p": bytes(12)}), "vectors missing or unknown: p"),
        (
            msgspec.structs.replace(
                aimed(direction=[1, 2, 3]), vectors={"direction": np.full(3, np.inf, np.float32).tobytes()}
            ),
            "vector direction has a number that is not finite",
        ),
        (weighed(), "its vectors have 2 numbers, a hidden state of m 3"),
    ],
)
def test_a_use_that_does_not_fit_its_graph_is_refused(use: RuleUse, message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        check_use(use, MODEL)


def test_a_model_whose_hidden_states_are_not_found_runs_no_rule_that_reads_them() -> None:
    check_use(aimed(direction=[1, 2, 3]), MODEL)
    with pytest.raises(InvalidArgumentError, match="rule aimed: it reads hidden states, but where m ends"):
        check_use(aimed(direction=[1, 2, 3]), msgspec.structs.replace(MODEL, hidden_size=0))


def test_a_matrix_costs_by_its_numbers() -> None:
    product = RuleNode("matmul", (0,))
    wide = RuleArray(64, bytes(4 * MOST_WEIGHTS))
    check_graph(with_vectors(HIDDEN, LOGITS, *[product] * 24, answer=1, arrays=[wide]))
    with pytest.raises(InvalidArgumentError, match="costs as much as 123 additions"):
        check_graph(with_vectors(HIDDEN, LOGITS, *[product] * 30, answer=1, arrays=[wide]))


def wide_constant(numbers: int) -> RuleArray:
    return RuleArray(numbers, bytes(4 * numbers))


def kept_at_once(count: int, numbers: int) -> RuleGraph:
    """A rule that needs so many vectors of so many numbers at the same time."""
    kept = [LOGITS, RuleNode("vector"), *[RuleNode("exp", (place,)) for place in range(1, count)]]
    joined = [RuleNode("add", (place, place + 1)) for place in range(1, count)]
    return with_vectors(*kept, *joined, answer=0, arrays=[wide_constant(numbers)])


def test_few_rules_with_many_numbers_are_remembered() -> None:
    short = aimed(direction=[1, 2, 3])
    long = [
        RuleUse.of(with_vectors(LOGITS, arrays=[wide_constant(MOST_WEIGHTS)], name=f"rule {number}"), {}, {})
        for number in range(33)
    ]
    of_short, of_long = short.graph, long[0].graph
    assert long[0].graph is of_long
    for use in long:
        check_use(use, MODEL)
    assert short.graph is of_short
    assert long[0].graph is not of_long


def test_vectors_take_memory_by_their_numbers() -> None:
    check_graph(kept_at_once(20, 64))
    with pytest.raises(InvalidArgumentError, match="rows of the vocabulary at once"):
        check_graph(kept_at_once(20, MOST_WEIGHTS))


def test_vectors_cost_by_their_numbers() -> None:
    constant, root = RuleNode("vector"), RuleNode("square_root", (1,))
    check_graph(with_vectors(LOGITS, constant, *[root] * 120, answer=0, arrays=[wide_constant(64)]))
    with pytest.raises(InvalidArgumentError, match="a step costs as much as"):
        check_graph(with_vectors(LOGITS, constant, *[root] * 120, answer=0, arrays=[wide_constant(MOST_WEIGHTS)]))


nodes = st.lists(
    st.builds(
        RuleNode,
        st.sampled_from([*OPERATIONS]),
        st.lists(st.integers(-2, 8), max_size=3).map(tuple),
        st.floats(),
        st.sampled_from(["", "x"]),
    ),
    max_size=10,
).map(tuple)


@given(nodes, st.integers(-2, 12), st.integers(-1, 300))
def test_a_graph_of_a_stranger_is_checked_or_refused_and_nothing_else(
    found: tuple[RuleNode, ...], answer: int, candidates: int
) -> None:
    with contextlib.suppress(InvalidArgumentError):
        check_graph(RuleGraph(found, answer, candidates=candidates, version=2, arrays=(THREE,)))


@given(st.randoms(use_true_random=False), st.sampled_from([0, 4]))
def test_a_graph_that_may_run_runs(random: Random, candidates: int) -> None:
    built = graph_of_chance(random, candidates)
    assume([node.operation for node in built.nodes].count("mass_threshold") < 2)  # three cost too much
    check_graph(built)
    use = RuleUse.of(built, {"p": 0.5, "i": 2.0}, {"s": 1.0}, {"v": THREE.data})
    rows = [RuledRow(use, 1, 0.5, place=place) for place in (1, 0)]
    done = RuleRun(mx.arange(20.0).reshape(2, 10), range(2), rows, [None, None], None, hidden=mx.ones((2, 3)))
    mx.eval(done.answer, done.failed, done.left_after(mx.array([3, 4])))
    assert done.answer.shape == (2, 10)


def graph_of_chance(random: Random, candidates: int) -> RuleGraph:
    """Whatever operations the inputs of which fit."""
    types, found = RuleTypes(), list[RuleNode]()
    names = {"parameter": "p", "integer_parameter": "i", "state": "s", "integer_state": "s", "vector_parameter": "v"}
    usable = [name for name in OPERATIONS if not name.startswith("other_") and name != "drawn"]
    for name in ["logits", "hidden", *random.choices(usable, k=30)]:
        kinds = OPERATIONS[name].inputs
        fitting = [[place for place, one in enumerate(types.types) if one.kind == kind] for kind in kinds]
        if all(fitting):
            node = RuleNode(name, tuple(map(random.choice, fitting)), name=names.get(name, ""))
            with contextlib.suppress(InvalidArgumentError):
                types.add(node.operation, node.inputs, THREE if name in ARRAY_OPERATIONS else None)
                found.append(node)
    places = [place for place, one in enumerate(types.types) if one == ValueType("float", is_row=True)]
    numbers = [place for place, one in enumerate(types.types) if one == ValueType("float", is_row=False)]
    if not numbers:
        found.append(RuleNode("sum", (0,)))
    states = (("s", (numbers or [len(found) - 1])[-1]),)
    return with_vectors(*found, answer=places[-1], states=states, candidates=candidates)
