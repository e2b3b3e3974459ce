"""How answers of pie-tiny are judged, and the table made of the judgements."""

from tools.tiny.chat import TURN_END
from tools.tiny.evaluate import answer_all, heldout_samples, markdown, table
from tools.tiny.scoring import judge
from tools.tiny.text import Check

CALL = '<tool_call>\n{"name": "add", "arguments": {"a": 1}}\n</tool_call>'


def test_a_call_in_any_key_order_is_right() -> None:
    answer = '<tool_call>\n{"arguments": {"a": 1}, "name": "add"}\n</tool_call>' + TURN_END
    assert judge(answer, Check("calls", [("add", {"a": 1})])).right


def test_an_argument_of_another_type_is_wrong() -> None:
    assert not judge(CALL + TURN_END, Check("calls", [("add", {"a": True})])).right


def test_a_call_that_does_not_parse_is_wrong_and_unparsed() -> None:
    judgement = judge('<tool_call>\n{"name": }\n</tool_call>' + TURN_END, Check("calls", [("add", {"a": 1})]))
    assert not judgement.right
    assert judgement.parsed is False


def test_a_right_answer_whose_turn_did_not_end_is_wrong() -> None:
    judgement = judge("Paris", Check("exact", "Paris"))
    assert not judgement.right
    assert not judgement.ended


def test_a_thought_is_not_part_of_the_answer() -> None:
    assert judge(f"<think>\n1 + 1 = 2\n</think>\n\n2{TURN_END}", Check("exact", "2")).right
    assert judge(f"1 + 1 = 2\n</think>\n\n2{TURN_END}", Check("exact", "2")).right


def test_json_is_compared_as_data() -> None:
    judgement = judge(f'{{"b": 2, "a": 1}}{TURN_END}', Check("json", {"a": 1, "b": 2}))
    assert judgement.right
    assert judgement.parsed


def test_an_answer_must_contain_each_value_and_call_nothing() -> None:
    check = Check("contains", ["18", "cloudy"])
    assert judge(f"It is 18 degrees and cloudy.{TURN_END}", check).right
    assert not judge(f"It is cloudy.{TURN_END}", check).right


def test_a_call_where_no_tool_fits_is_wrong() -> None:
    assert not judge(CALL + TURN_END, Check("no_call")).right


def test_the_table_counts_what_an_injected_generator_answers() -> None:
    samples = heldout_samples(1)
    rows = table(answer_all(samples, lambda prompts, most: ["no" + TURN_END for _ in prompts]))
    assert sum(row.items for row in rows) == len(samples)
    assert all(row.ended == 100 for row in rows)
    assert markdown(rows).count("\n") == len(rows) + 2
