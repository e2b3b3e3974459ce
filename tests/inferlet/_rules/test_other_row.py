"""Rows of other contexts, as a rule names them."""

import msgspec
import pytest

from inferlet import rule, rules
from inferlet.rules import OtherRow, Row, RuleUse, Value
from pie_mlx.calls import MOST_OTHERS, RuleGraph
from pie_mlx.engine.model.rules.checking import check_use
from pie_mlx.errors import InvalidArgumentError
from tests.engine.model.rules.test_checking import MODEL


@rule
def joined(row: Row, second: OtherRow, third: OtherRow) -> Value:
    return row.logits + third.log_probabilities


def changed(**fields: object) -> RuleUse:
    return RuleUse.of(msgspec.structs.replace(joined.graph, **fields), {}, {})


def test_a_rule_names_the_contexts_that_it_reads_in_the_order_of_its_parameters() -> None:
    assert joined.graph.others == ("second", "third")
    assert joined().parameters == {}
    check_use(joined(), MODEL)


def test_a_context_is_passed_to_the_generator() -> None:
    with pytest.raises(InvalidArgumentError, match="no parameter unguided") as caught:
        rules.guidance(unguided=1.0)
    assert "generate(others=" in str(caught.value.hint)


@pytest.mark.parametrize(
    ("use", "text"),
    [
        (changed(others=("second",)), "it reads rows of third"),
        (changed(others=("third", "third")), "2 other contexts"),
        (changed(others=("third", *map(str, range(MOST_OTHERS)))), "9 other contexts, at most 8"),
    ],
)
def test_rows_of_contexts_that_are_not_named_are_refused(use: RuleUse, text: str) -> None:
    with pytest.raises(InvalidArgumentError, match=text):
        check_use(use, MODEL)


def test_a_rule_without_other_contexts_is_written_as_before() -> None:
    encoded = msgspec.msgpack.decode(rules.min_p().code)
    assert "others" not in encoded
    assert isinstance(rules.min_p().graph, RuleGraph)
