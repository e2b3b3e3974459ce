"""Tool use in other styles and after errors: what is trained on is well formed and true to what was offered."""

import ast
import json
from typing import Any

import pytest

from tools.tiny.text import Sample
from tools.tiny.text.code_blocks import literal, make_code
from tools.tiny.text.mixture import make_of
from tools.tiny.text.react import make_react
from tools.tiny.text.retries import make_retry
from tools.tiny.text.sample import Message
from tools.tiny.text.tool_use import FEW_TOOLS, make_calls

COUNT = 80


def both(family: Any) -> list[Sample]:
    return [make_of(family, 4, number, split) for number in range(COUNT) for split in ("train", "heldout")]


def answers(sample: Sample) -> list[str]:
    return [message["content"] for message in sample.messages if message["role"] == "assistant"]


def called(message: Message) -> list[tuple[str, Any]]:
    return [(call["function"]["name"], call["function"]["arguments"]) for call in message.get("tool_calls", ())]


@pytest.fixture(scope="module")
def retried() -> list[Sample]:
    return both(make_retry)


def test_every_react_turn_ends_in_an_offered_action_or_in_an_answer() -> None:
    for sample in both(make_react):
        for text in answers(sample):
            first, second, *rest = text.split("\n")
            assert first.startswith("Thought: ")
            if second.startswith("Final Answer: "):
                assert not rest
            else:
                assert second.removeprefix("Action: ") in sample.messages[0]["content"]
                assert isinstance(json.loads(rest[0].removeprefix("Action Input: ")), dict)


def test_an_observation_answers_each_action() -> None:
    for sample in both(make_react):
        for message, after in zip(sample.messages, sample.messages[1:], strict=False):
            if message["role"] == "assistant":
                assert after["content"].startswith("Observation: ") == ("\nAction: " in message["content"])


def test_every_code_block_is_python_that_calls_an_offered_function() -> None:
    for sample in both(make_code):
        offered = sample.messages[0]["content"]
        blocks = [text for text in answers(sample) if text.startswith("```python\n")]
        for text in blocks:
            lines = ast.parse(text.removeprefix("```python\n").removesuffix("\n```")).body
            assert lines
            for line in lines:
                printed = line.value.args[0]  # pyright: ignore
                assert f"def {ast.unparse(printed.func)}(" in offered
                assert all(f"{argument.arg}: " in offered for argument in printed.keywords)


@pytest.mark.parametrize("value", [True, False, 3, 2.5, "a b", ["x", "y"]])
def test_a_literal_is_the_value_in_python(value: Any) -> None:
    assert ast.literal_eval(literal(value)) == value


def test_a_second_call_names_the_same_tool_and_at_most_one_argument_differs(retried: list[Sample]) -> None:
    seen = 0
    for sample in retried:
        for first, error, second in zip(sample.messages, sample.messages[1:], sample.messages[2:], strict=False):
            if error["role"] == "tool" and called(first) and called(second):
                (name, before), (again, after) = called(first)[0], called(second)[0]
                seen += 1
                assert name == again
                assert set(before) == set(after)
                assert sum(before[key] != after[key] for key in before) <= 1
    assert seen > COUNT


def test_a_corrected_argument_stands_in_the_error(retried: list[Sample]) -> None:
    for sample in retried:
        for first, error, second in zip(sample.messages, sample.messages[1:], sample.messages[2:], strict=False):
            if error["role"] == "tool" and called(first) and called(second):
                before, after = called(first)[0][1], called(second)[0][1]
                assert all(str(after[key]) in error["content"] for key in after if after[key] != before[key])


def test_an_error_that_is_reported_is_named_in_the_answer(retried: list[Sample]) -> None:
    reported = [sample for sample in retried if sample.task == "error reported"]
    assert reported
    for sample in reported:
        assert all(text in sample.messages[-1]["content"] for text in sample.check.expected)
        assert all(text in sample.messages[-2]["content"] for text in sample.check.expected)


def test_up_to_six_tools_are_offered() -> None:
    counts = {len(sample.tools) for sample in both(make_calls)}
    assert counts == {1, 2, 3, 4, 5, 6}


def test_calls_among_many_tools_have_a_row_of_their_own() -> None:
    named = {sample.task for sample in both(make_calls) if len(sample.tools) > FEW_TOOLS}
    assert "one of many tools" in named
    assert "tool call" not in named
