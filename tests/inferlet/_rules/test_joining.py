"""`Generator.until`: a rule that ends a text, beside one that changes its logits."""

import pytest

from inferlet import rule, rules
from inferlet._rules.joining import with_end
from inferlet.rules import Number, Row, Value
from pie_mlx.engine.model.rules.checking import check_use
from pie_mlx.errors import InvalidArgumentError
from tests.engine.model.rules.test_checking import MODEL


@rule
def unsure(row: Row, nats: Number = 3.0) -> Value:
    return row.entropy > nats


@rule
def spent(row: Row, doubt: Number = 0.0, tau: Number = 4.0) -> tuple[Value, dict[str, Number]]:
    total = doubt + row.entropy
    return total > tau, {"doubt": total}


@rule(candidates=4)
def of_few(row: Row) -> Value:
    return row.entropy > 1.0


@rule
def changes(row: Row) -> tuple[Value, dict[str, Number], Value]:
    return row.logits / 2.0, {}, row.entropy > 1.0


@rule
def stuck(row: Row) -> Value:
    return row.repeated.max() > 9.0


def test_a_condition_alone_leaves_the_logits_as_they_are() -> None:
    graph = unsure.graph
    assert graph.nodes[graph.answer].operation == "logits"
    assert graph.until is not None
    check_use(unsure(), MODEL)


def test_a_sampler_without_a_rule_gets_the_end_alone() -> None:
    assert with_end(None, spent()) == spent()


def test_two_rules_keep_their_parameters_and_states_apart() -> None:
    both = with_end(rules.mirostat(tau=2.0, mu=5.0), spent(tau=9.0))
    check_use(both, MODEL)
    assert both.parameters == {"tau": 2.0, "rate": 0.1, "until tau": 9.0}
    assert both.state == {"mu": 5.0, "until doubt": 0.0}
    assert [name for name, _ in both.graph.states] == ["mu", "until doubt"]


def test_an_operation_of_both_is_computed_once() -> None:
    both = with_end(rules.eta(), unsure())
    names = [node.operation for node in both.graph.nodes]
    assert names.count("logits") == names.count("log_total") == names.count("exp") == 1


@pytest.mark.parametrize(
    ("use", "until", "text"),
    [
        (None, rules.eta(), "until: rule eta: it ends no text"),
        (None, changes(), "until: rule changes: it changes the logits"),
        (rules.min_p(), of_few(), "it sees 4 candidates, min_p 0"),
        (rules.dry(breakers=[3]), stuck(), "its repetitions end at other tokens than those of _dry"),
        (unsure(), spent(), "unsure ends the text already"),
    ],
)
def test_what_cannot_end_a_text_is_refused(use: rules.RuleUse | None, until: rules.RuleUse, text: str) -> None:
    with pytest.raises(InvalidArgumentError, match=text):
        with_end(use, until)
