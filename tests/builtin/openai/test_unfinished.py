"""Of calls that were cut short, in every format, no more is told than what they would have been."""

import json

import pytest

from pie_mlx.engine.text.tools.tool_families import BY_STYLE
from tests.engine.text.tools.test_tool_calls import SEVERAL, WRITTEN

DELIMITED = [style for style, family in BY_STYLE.items() if family.openings and not WRITTEN[style].startswith("{")]


@pytest.fixture
def unfinished(openai_module):
    return openai_module("decoding")


@pytest.fixture
def calls(unfinished):
    """The calls of a tool `f` in a text of a style."""
    return lambda style, text, names=("f",): unfinished.unfinished_calls(BY_STYLE[style].format, text, names)


def cuts(style):
    """Every beginning of a call, from its opening on."""
    written = WRITTEN[style]
    (opening,) = [one for one in BY_STYLE[style].openings if written.startswith(one)]
    return [written[:end] for end in range(len(opening), len(written) + 1)]


@pytest.mark.parametrize("style", DELIMITED)
def test_a_call_is_told_once_its_name_is_whole(calls, style):
    told = [calls(style, text) for text in cuts(style)]
    assert told[0] == []
    assert [name for name, _ in told[-1]] == ["f"]
    assert [len(found) for found in told] == sorted(len(found) for found in told)


@pytest.mark.parametrize("style", DELIMITED)
def test_its_arguments_are_the_beginning_of_json_or_nothing(calls, unfinished, style):
    whole = {"s": "a b", "n": 3}
    told = [arguments for text in cuts(style) for _, arguments in calls(style, text)]
    assert all(json.dumps(whole).startswith(arguments) for arguments in told)
    assert (json.dumps(whole) in told) == (style in unfinished.AS_JSON)


def test_of_several_calls_the_last_may_be_cut(calls):
    written = SEVERAL["mistral"]
    assert calls("mistral", written[: written.rindex(" b")]) == [("f", '{"s": "a b", "n": 3}'), ("f", '{"s": "a')]


def test_a_key_is_no_name(calls):
    text = '<tool_call>\n{"name": "f", "arguments": {'
    assert calls("hermes", text, ["name", "f", "arguments"]) == [("f", "{")]


def test_a_name_nobody_offered_is_not_told(calls):
    assert calls("hermes", WRITTEN["hermes"][:30], ["g"]) == []


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"name": "look', []),
        ('{"name": "look_up", "parameters": {"s', [("look_up", '{"s')]),
        ('{"type": "function", "name": "look_up", "parameters": {"s', [("look_up", '{"s')]),
        ('{"name": "Ada", "age', None),
        ('{"tool": "look_up", "age', None),
        ("look_up", None),
    ],
)
def test_a_bare_answer_in_json_is_a_call_only_where_it_names_a_tool(calls, text, told):
    assert calls("llama", text, ["look_up"]) == told


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (' to=functions.f<|channel|>commentary json<|message|>{"s": "a', [("f", '{"s": "a')]),
        ('<|channel|>analysis<|message|>Well.<|end|><|start|>assistant to=functions.f<|message|>{"', [("f", '{"')]),
        ("<|channel|>commentary to=functions.f <|constrain|>json<|message|>", [("f", "")]),
        (' to=functions.g<|channel|>commentary json<|message|>{"s": "a', []),
        ("<|channel|>final<|message|>Write to=functions.f", None),
        (" to=functions.f<|message|>{}<|end|><|start|>assistant<|channel|>fi", None),
        ("<|channel|>final", None),
    ],
)
def test_a_message_to_a_function_is_a_call(unfinished, text, told):
    assert unfinished.unfinished_message(text, ["f"]) == told
