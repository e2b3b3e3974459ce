"""Native tool calls as grammars: what the template writes is accepted, anything else is not."""

import json
from collections.abc import Callable

import pytest

from pie_mlx.calls import GrammarSource
from pie_mlx.errors import GrammarError, InvalidArgumentError
from tests.engine.text import chat_templates, tool_templates
from tests.engine.text.conftest import Factory
from tests.engine.text.grammar.speaker import Speaker

CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
WEATHER = json.dumps({"name": "weather", "parameters": CITY})
TIME = json.dumps({"name": "time", "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}}})
JSON_FORMATS = {
    "hermes": (chat_templates.HERMES, ()),
    "list": (tool_templates.LIST, ()),
    "name_args": (tool_templates.NAME_ARGS, ("[TOOL_CALLS]", "[ARGS]")),
    "deepseek": (tool_templates.DEEPSEEK, tool_templates.DEEPSEEK_SPECIAL),
    "kimi": (tool_templates.KIMI, ("<|tool_call_begin|>",)),
    "written_out": (tool_templates.WRITTEN_OUT, ()),
    "ids_last": (tool_templates.IDS_LAST, ()),
    "llama": (tool_templates.LLAMA, ()),
    "harmony": (tool_templates.HARMONY, chat_templates.HARMONY_SPECIAL),
    "harmony_thoughts": (tool_templates.HARMONY_THOUGHTS, chat_templates.HARMONY_SPECIAL),
}
ONE_CALL_ONLY = {"llama", "harmony", "harmony_thoughts"}


@pytest.fixture(params=JSON_FORMATS)
def speaker(request: pytest.FixtureRequest, make_tokenizer: Factory) -> tuple[str, Speaker]:
    template, special = JSON_FORMATS[request.param]
    end = "<|call|>" if request.param.startswith("harmony") else "<|im_end|>"
    return request.param, Speaker(make_tokenizer, template, special, end)


def test_what_the_template_writes_is_accepted(speaker: tuple[str, Speaker]) -> None:  # D7
    _, model = speaker
    assert model.takes(model.written(("weather", {"city": "Rome"})), WEATHER, TIME)
    assert model.takes(model.written(("time", {"n": 3})), WEATHER, TIME)


def test_several_calls_are_accepted(speaker: tuple[str, Speaker]) -> None:
    name, model = speaker
    if name not in ONE_CALL_ONLY:
        assert model.takes(model.written(("weather", {"city": "Rome"}), ("time", {"n": 3})), WEATHER, TIME)


def test_other_tools_and_other_arguments_are_refused(speaker: tuple[str, Speaker]) -> None:
    _, model = speaker
    good = model.written(("weather", {"city": "Rome"}))
    for bad in (good.replace("weather", "feather"), good.replace("city", "town"), good[:-1], "Hello", f"x{good}"):
        assert not model.takes(bad, WEATHER, TIME), bad
    assert not model.takes(model.written(("time", {"n": "x"})), WEATHER, TIME)


def test_items_of_arguments_that_must_differ_do(speaker: tuple[str, Speaker]) -> None:
    name, model = speaker
    array = {"type": "array", "items": {"type": "string"}, "uniqueItems": True}
    tags = json.dumps({"name": "tag", "parameters": {"type": "object", "properties": {"tags": array}}})
    for tools in ((tags, WEATHER), (WEATHER, tags)):
        assert model.takes(model.written(("tag", {"tags": ["a", "b", 'a"]']})), *tools)
        assert not model.takes(model.written(("tag", {"tags": ["a", "b", "a"]})), *tools)
    if name not in ONE_CALL_ONLY:
        assert model.takes(model.written(("tag", {"tags": ["a"]}), ("tag", {"tags": ["a"]})), tags, WEATHER)
        assert model.takes(model.written(("weather", {"city": "a"}), ("tag", {"tags": ["a"]})), tags, WEATHER)
        assert not model.takes(model.written(("tag", {"tags": []}), ("tag", {"tags": ["a", "a"]})), tags, WEATHER)


THOUGHT = '<|channel|>analysis<|message|>Where?\n"{<|end|><|start|>assistant'


@pytest.fixture
def messenger(make_tokenizer: Factory) -> Callable[[str], Speaker]:
    return lambda template: Speaker(make_tokenizer, template, chat_templates.HARMONY_SPECIAL, "<|call|>")


def test_a_message_of_thought_may_come_before_the_call(messenger: Callable[[str], Speaker]) -> None:  # D7
    model = messenger(tool_templates.HARMONY_THOUGHTS)
    call = model.written(("weather", {"city": "Rome"}))
    for before in ("", THOUGHT, THOUGHT.replace("Where?", "")):
        assert model.takes(before + call, WEATHER), before
        assert model.chat.parse_calls(before + call)[0].name == "weather"


@pytest.mark.parametrize("before", [THOUGHT.replace("analysis", "final"), THOUGHT * 2, THOUGHT.replace("?", "<|end|>")])
def test_no_other_message_comes_before_the_call(messenger: Callable[[str], Speaker], before: str) -> None:  # D7
    model = messenger(tool_templates.HARMONY_THOUGHTS)
    assert not model.takes(before + model.written(("weather", {"city": "Rome"})), WEATHER)


def test_a_template_without_thoughts_begins_with_the_call(messenger: Callable[[str], Speaker]) -> None:  # D7
    model = messenger(tool_templates.HARMONY)
    assert not model.takes(THOUGHT + model.written(("weather", {"city": "Rome"})), WEATHER)


def test_what_the_grammar_accepts_parses(speaker: tuple[str, Speaker]) -> None:
    _, model = speaker
    reply = model.written(("weather", {"city": 'a "b"\n'}))
    assert model.takes(reply, WEATHER)
    calls = model.chat.parse_calls(reply, [WEATHER])
    assert [json.loads(call.arguments) for call in calls] == [{"city": 'a "b"\n'}]


def test_a_call_ends_as_the_last_of_two_where_the_template_ends_only_these(make_tokenizer: Factory) -> None:  # D7
    model = Speaker(make_tokenizer, tool_templates.DEEPSEEK_TEXTS, tool_templates.DEEPSEEK_SPECIAL)
    two = model.written(("weather", {"city": "Rome"}), ("time", {"n": 3}))
    one = two.partition("\n<｜tool▁call▁begin｜>")[0] + "<｜tool▁calls▁end｜>"
    for reply, names in ((one, ["weather"]), (two, ["weather", "time"])):
        assert model.takes(reply, WEATHER, TIME)
        assert [call.name for call in model.chat.parse_calls(reply)] == names


def test_markup_in_an_argument_is_refused(make_tokenizer: Factory) -> None:
    model = Speaker(make_tokenizer, chat_templates.HERMES, ())
    reply = model.written(("weather", {"city": "</tool_call>"}))
    assert not model.takes(reply, WEATHER)


@pytest.mark.parametrize("template", [tool_templates.GEMMA, tool_templates.PYTHON_BLOCK, chat_templates.GEMMA])
def test_formats_that_cannot_be_enforced_have_no_grammar(make_tokenizer: Factory, template: str) -> None:  # D7
    model = Speaker(make_tokenizer, template, chat_templates.GEMMA_SPECIAL)
    assert model.grammars.compile(GrammarSource("tools", schemas=[WEATHER])) is None


@pytest.mark.parametrize(("keyword", "value"), [("not", {}), ("minimum", 2**53 + 1)])
def test_a_schema_that_cannot_be_enforced_is_refused_with_its_path(
    make_tokenizer: Factory, keyword: str, value: object
) -> None:
    model = Speaker(make_tokenizer, chat_templates.HERMES, ())
    bad = json.dumps({"name": "f", "parameters": {"properties": {"a": {keyword: value}}}})
    with pytest.raises(GrammarError, match=rf"f\.parameters: \$\.properties\.a\.{keyword}"):
        model.grammars.compile(GrammarSource("tools", schemas=[WEATHER, bad]))


def test_tools_of_one_name_are_refused(make_tokenizer: Factory) -> None:
    model = Speaker(make_tokenizer, chat_templates.HERMES, ())
    with pytest.raises(InvalidArgumentError, match="two tools"):
        model.grammars.compile(GrammarSource("tools", schemas=[WEATHER, WEATHER]))


def test_a_tool_without_parameters_takes_none(make_tokenizer: Factory) -> None:
    model = Speaker(make_tokenizer, chat_templates.HERMES, ())
    assert model.takes(model.written(("now", {})), '{"name": "now"}')
    assert not model.takes(model.written(("now", {"x": 1})), '{"name": "now"}')
