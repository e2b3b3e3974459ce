"""Tool calls of every format come out of a token stream, and nothing of them into the text."""

import json

import pytest

from inferlet import Model, chat, tools
from tests.engine.text import chat_templates, tool_templates
from tests.engine.text.tools.test_tool_calls import CALL, SCHEMA, SEVERAL, WRITTEN
from tests.inferlet._decoding.test_decoder import ids, made, one_by_one
from tests.inferlet.speaking import cuts, events

TEMPLATES = {
    "hermes": (chat_templates.HERMES, ()),
    "function_tags": (tool_templates.FUNCTION_TAGS, ()),
    "key_value_tags": (tool_templates.KEY_VALUE_TAGS, ()),
    "invoke_tags": (tool_templates.INVOKE_TAGS, ()),
    "mistral": (tool_templates.LIST, ("[TOOL_CALLS]", "[ARGS]", "[CALL_ID]")),
    "deepseek": (tool_templates.DEEPSEEK, tool_templates.DEEPSEEK_SPECIAL),
    "kimi": (tool_templates.KIMI, ("<|tool_calls_section_begin|>", "<|tool_call_end|>")),
    "gemma": (tool_templates.GEMMA, ("<|tool_call>", "<tool_call|>", '<|"|>')),
    "python_block": (tool_templates.PYTHON_BLOCK, ("<|tool_call_start|>", "<|tool_call_end|>")),
    "llama": (tool_templates.LLAMA, ("<|python_tag|>",)),
    "harmony": (tool_templates.HARMONY, chat_templates.HARMONY_SPECIAL),
}
WHOLE_REPLY = {"llama", "harmony"}
EXPECTED = tools.Call(CALL.name, CALL.arguments)


@pytest.fixture(scope="module", params=TEMPLATES)
def speaking(request: pytest.FixtureRequest) -> tuple[str, Model]:
    template, special = TEMPLATES[request.param]
    return request.param, made(template, special, end="<|call|>" if request.param == "harmony" else "<|im_end|>")


def reply(style: str, model: Model, text: str) -> list[int]:
    said = text if style in WHOLE_REPLY else f"Hi {text}"
    return [*ids(model, said), *model.info.formats.stop_tokens[:1]]


def test_a_call_is_an_event_and_no_text(speaking: tuple[str, Model]) -> None:  # D4, D6
    style, model = speaking
    tokens = reply(style, model, WRITTEN[style].removesuffix("<|call|>"))
    for batches in ([tokens], one_by_one(tokens), cuts(tokens, 7)):
        assert events(tools.Decoder(model, [SCHEMA]), batches) == [tools.Start(), EXPECTED]
        assert events(chat.Decoder(model), batches)[-1].text == ("" if style in WHOLE_REPLY else "Hi ")


def test_several_calls_are_several_events(speaking: tuple[str, Model]) -> None:  # D6
    style, model = speaking
    if style in SEVERAL:
        found = events(tools.Decoder(model, [SCHEMA]), one_by_one(reply(style, model, SEVERAL[style])))
        assert [event for event in found if isinstance(event, tools.Call)] == [EXPECTED, EXPECTED]


def test_a_call_of_a_tool_that_is_not_offered_is_text(speaking: tuple[str, Model]) -> None:  # D4
    style, model = speaking
    tokens = reply(style, model, WRITTEN[style].removesuffix("<|call|>"))
    found = events(tools.Decoder(model, ['{"name": "g"}']), [tokens])
    assert not [event for event in found if isinstance(event, tools.Call)]
    text = events(chat.Decoder(model, ['{"name": "g"}']), [tokens])[-1].text
    assert "a b" in text
    assert style in WHOLE_REPLY or text == f"Hi {WRITTEN[style]}"


def test_an_answer_in_json_is_text() -> None:  # D4
    model = made(tool_templates.LLAMA)
    answer = '{"name": "Ann", "age": 3}'
    assert events(tools.Decoder(model), [reply("llama", model, answer)]) == []
    assert events(chat.Decoder(model), [reply("llama", model, answer)])[-1].text == answer


def test_values_other_than_text_are_written_as_json() -> None:  # D7
    model = made(chat_templates.HERMES)
    value = {"temperature": 21, "sky": ["clear"]}
    written = model.tokenizer().decode(tools.answer_prefix(model, "weather", value))
    assert json.loads(written.partition("<tool_response>\n")[2].partition("\n</tool_response>")[0]) == value
    assert written.endswith("</tool_response><|im_end|>\n")


def test_a_text_is_searched_for_its_first_call() -> None:  # D7
    model = made(chat_templates.HERMES)
    assert tools.parse_call(model, f"Let me see: {WRITTEN['hermes']}", [SCHEMA]) == (CALL.name, CALL.arguments)
    assert tools.parse_call(model, "no call") is None


@pytest.mark.parametrize("value", [r'"\ud800"', "NaN"])
def test_a_call_that_no_json_text_can_hold_is_text(value: str) -> None:  # D2, D4
    model = made(chat_templates.HERMES)
    said = WRITTEN["hermes"].replace("3", value)
    tokens = reply("hermes", model, said)
    assert events(tools.Decoder(model), [tokens]) == [tools.Start()]
    assert events(chat.Decoder(model), [tokens])[-1].text == f"Hi {said}"
