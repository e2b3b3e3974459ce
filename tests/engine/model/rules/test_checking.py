"""Which rules may run: whatever bytes a program sends."""

import contextlib

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inferlet import rules
from pie_mlx.calls import OPERATIONS, RuleGraph, RuleNode, RuleUse
from pie_mlx.engine.model.rules.checking import check_graph, check_use
from pie_mlx.errors import InvalidArgumentError

LOGITS = RuleNode("logits")


def graph(*nodes: RuleNode, **fields: object) -> RuleGraph:
    return RuleGraph(nodes, **{"answer": len(nodes) - 1, **fields})  # type: ignore[arg-type]


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
        (graph(LOGITS, version=2), "version 2 of the format"),
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
        (RuleUse(b"\x00" * 20_000), "20000 bytes, at most 16384"),
    ],
)
def test_a_use_that_does_not_fit_its_graph_is_refused(use: RuleUse, message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        check_use(use)


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
        check_graph(RuleGraph(found, answer, candidates=candidates))
