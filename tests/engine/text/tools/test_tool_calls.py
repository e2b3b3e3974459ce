"""Calls in each native format are found, and what is no call is not."""

import json

import pytest

from pie_mlx.calls import ParsedToolCall
from pie_mlx.engine.text.conversation.tool_calls import parse_calls
from pie_mlx.engine.text.tools.marked_calls import typed_value
from pie_mlx.engine.text.tools.tool_families import BY_STYLE, FAMILIES, recognise_family
from tests.engine.text import chat_templates, tool_templates

SCHEMA = json.dumps(
    {
        "name": "f",
        "parameters": {
            "type": "object",
            "properties": {"s": {"type": "string"}, "n": {"type": "integer"}, "b": {"type": "boolean"}, "o": {}},
        },
    }
)
CALL = ParsedToolCall("f", '{"s":"a b","n":3}')
WRITTEN = {
    "hermes": '<tool_call>\n{"name": "f", "arguments": {"s": "a b", "n": 3}}\n</tool_call>',
    "longcat": '<longcat_tool_call>{"name": "f", "arguments": {"s": "a b", "n": 3}}</longcat_tool_call>',
    "function_tags": "<tool_call>\n<function=f>\n<parameter=s>\na b\n</parameter>\n<parameter=n>\n3\n</parameter>\n"
    "</function>\n</tool_call>",
    "key_value_tags": "<tool_call>f\n<arg_key>s</arg_key>\n<arg_value>a b</arg_value>\n<arg_key>n</arg_key>"
    "<arg_value>3</arg_value></tool_call>",
    "invoke_tags": '<minimax:tool_call>\n<invoke name="f">\n<parameter name="s">a b</parameter>\n'
    '<parameter name="n">3</parameter>\n</invoke>\n</minimax:tool_call>',
    "gemma": '<|tool_call>call:f{s:<|"|>a b<|"|>,n:3}<tool_call|>',
    "function_gemma": "<start_function_call>call:f{s:<escape>a b<escape>,n:3}<end_function_call>",
    "harmony": ' to=functions.f<|channel|>commentary json<|message|>{"s": "a b", "n": 3}<|call|>',
    "deepseek": '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>{"s": "a b", "n": 3}<｜tool▁call▁end｜>'
    "<｜tool▁calls▁end｜>",
    "kimi": "<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>"
    '{"s": "a b", "n": 3}<|tool_call_end|><|tool_calls_section_end|>',
    "command": '<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "f", "parameters": {"s": "a b", "n": 3}}]'
    "<|END_ACTION|>",
    "mistral": '[TOOL_CALLS][{"name": "f", "arguments": {"s": "a b", "n": 3}, "id": "abcdefghi"}]',
    "python_block": '<|tool_call_start|>[f(s="a b", n=3)]<|tool_call_end|>',
    "olmo": '<function_calls>f(s="a b", n=3)</function_calls>',
    "nemotron": '<TOOLCALL>[{"name": "f", "arguments": {"s": "a b", "n": 3}}]</TOOLCALL>',
    "granite": '<|tool_call|>[{"name": "f", "arguments": {"s": "a b", "n": 3}}]',
    "llama": '{"name": "f", "parameters": {"s": "a b", "n": 3}}',
    "python_list": '[f(s="a b", n=3)]',
}
SEVERAL = {
    "mistral": '[TOOL_CALLS]f[ARGS]{"s": "a b", "n": 3}[TOOL_CALLS]f[CALL_ID]x1[ARGS]{"s": "a b", "n": 3}',
    "llama": '{"name": "f", "parameters": {"s": "a b", "n": 3}}; {"name": "f", "parameters": {"s": "a b", "n": 3}}',
    "deepseek": '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n```json\n{"s": "a b", "n": 3}\n```'
    '<｜tool▁call▁end｜>\n<｜tool▁call▁begin｜>f<｜tool▁sep｜>{"s": "a b", "n": 3}<｜tool▁call▁end｜>'
    "<｜tool▁calls▁end｜>",
    "hermes": WRITTEN["hermes"] * 2,
    "function_tags": WRITTEN["function_tags"] + "\n" + WRITTEN["function_tags"],
}


def parse(style: str, text: str, schemas: tuple[str, ...] = (SCHEMA,)) -> list[ParsedToolCall]:
    return parse_calls(BY_STYLE[style].format, text, schemas)


def test_every_family_has_a_written_example() -> None:
    assert WRITTEN.keys() == BY_STYLE.keys()
    assert len(BY_STYLE) == len(FAMILIES)


@pytest.mark.parametrize("style", WRITTEN)
def test_a_call_is_found(style: str) -> None:  # D7
    assert parse(style, WRITTEN[style]) == [CALL]


@pytest.mark.parametrize("style", SEVERAL)
def test_several_calls_are_found(style: str) -> None:
    assert parse(style, SEVERAL[style]) == [CALL, CALL]


@pytest.mark.parametrize("style", WRITTEN)
def test_a_broken_call_is_none(style: str) -> None:  # D4
    for broken in (WRITTEN[style][:-1], WRITTEN[style].replace("f", "", 1), "", "just text"):
        for call in parse(style, broken):
            assert call == CALL  # a missing last bracket may leave the call itself whole


@pytest.mark.parametrize("style", WRITTEN)
def test_a_call_of_a_tool_that_is_not_offered_is_none(style: str) -> None:
    assert parse(style, WRITTEN[style], ('{"name": "g"}',)) == []


def test_text_around_a_call_does_not_matter() -> None:
    assert parse("hermes", f"Let me see. {WRITTEN['hermes']} Done.") == [CALL]


def test_arguments_may_be_json_inside_a_string() -> None:
    text = '<tool_call>{"arguments": "{\\"s\\": \\"a b\\", \\"n\\": 3}", "name": "f"}</tool_call>'
    assert parse("hermes", text) == [CALL]


def test_an_answer_in_json_is_no_llama_call() -> None:
    for text in ('{"name": "f", "age": 3}', '{"name": "f", "parameters": {}} and more', '{"name": "f"}', "{}"):
        assert parse("llama", text, ()) == []


def test_builtin_tools_of_llama_are_called_in_python() -> None:
    assert parse("llama", '<|python_tag|>search.call(query="x")', ()) == [ParsedToolCall("search", '{"query":"x"}')]


def test_python_calls_take_literals_only() -> None:
    for text in ("[f(s=open('x'))]", "[f('a')]", "[f(**x)]", "[1]", "[f(s=__import__('os'))]"):
        assert parse("python_list", text, ()) == []


@pytest.mark.parametrize("style", WRITTEN)
@pytest.mark.parametrize("value", [r'"\ud800"', "1e999"])
def test_values_that_no_json_text_can_hold_make_no_call(style: str, value: str) -> None:  # D4
    numbers = json.dumps({"name": "f", "parameters": {"properties": {"n": {"type": "number"}}}})
    assert parse(style, WRITTEN[style].replace("3", value), (numbers,)) == []


@pytest.mark.parametrize("style", [style for style in WRITTEN if not BY_STYLE[style].tags])
def test_numbers_that_are_none_make_no_call(style: str) -> None:  # D4
    assert parse(style, WRITTEN[style].replace("3", "NaN")) == []


def test_a_name_with_a_lone_surrogate_makes_no_call() -> None:  # D4
    assert parse("hermes", r'<tool_call>{"name": "\ud800", "arguments": {}}</tool_call>', ()) == []


@pytest.mark.parametrize("value", ["b'x'", "{1, 2}", "1j", "...", "{(1, 2): 3}", "{[]: 3}"])
def test_python_literals_that_json_has_not_make_no_call(value: str) -> None:  # D4
    assert parse("python_list", f"[f(s={value})]", ()) == []


def test_gemma_strings_may_hold_anything() -> None:
    text = '<|tool_call>call:f{s:<|"|>a, b:"{<|"|>,o:[1,{k:true}]}<tool_call|>'
    assert parse("gemma", text) == [ParsedToolCall("f", '{"s":"a, b:\\"{","o":[1,{"k":true}]}')]


@pytest.mark.parametrize(
    ("text", "schema", "value"),
    [
        ("3", {"type": "integer"}, 3),
        ("3", {"type": "string"}, "3"),
        ("True", {"type": "boolean"}, True),
        ("false", {"type": "boolean"}, False),
        ('{"a": [1]}', {"type": "object"}, {"a": [1]}),
        ("abc", {"type": "integer"}, "abc"),
        ("NaN", {"type": "number"}, "NaN"),
        ("3", None, 3),
        ("abc", None, "abc"),
        ('"q"', None, '"q"'),
        ("null", {"type": ["string", "null"]}, None),
    ],
)
def test_untyped_values_are_converted_by_their_schema(text: str, schema: dict | None, value: object) -> None:
    assert typed_value(text, schema) == value


@pytest.mark.parametrize(
    ("template", "style"),
    [
        (chat_templates.HERMES, "hermes"),
        (tool_templates.FUNCTION_TAGS, "function_tags"),
        (tool_templates.KEY_VALUE_TAGS, "key_value_tags"),
        (tool_templates.INVOKE_TAGS, "invoke_tags"),
        (tool_templates.LIST, "mistral"),
        (tool_templates.NAME_ARGS, "mistral"),
        (tool_templates.DEEPSEEK, "deepseek"),
        (tool_templates.KIMI, "kimi"),
        (tool_templates.LLAMA, "llama"),
        (tool_templates.GEMMA, "gemma"),
        (tool_templates.PYTHON_BLOCK, "python_block"),
        (tool_templates.HARMONY, "harmony"),
    ],
)
def test_a_family_is_recognised_by_its_template(template: str, style: str) -> None:
    family = recognise_family(template)
    assert family is not None
    assert family.style == style


def test_a_template_without_tools_has_no_family() -> None:
    assert recognise_family(chat_templates.GEMMA) is None


UNCLOSED = {
    "function_tags": "<tool_call><function=f>" + "<parameter=" * 20_000 + "<parameter=k>" * 20_000 + "</tool_call>",
    "key_value_tags": "<tool_call>f" + "<arg_key>" * 50_000 + "<arg_key>k</arg_key><arg_value>" * 9000 + "</tool_call>",
    "invoke_tags": '<minimax:tool_call><invoke name="f">' + '<parameter name="' * 40_000 + "</minimax:tool_call>",
    "deepseek": "<｜tool▁calls▁begin｜>" + "<｜tool▁call▁begin｜>f\n" * 40_000 + "<｜tool▁calls▁end｜>",
    "kimi": "<|tool_calls_section_begin|>" + "<|tool_call_begin|>" * 40_000 + "<|tool_calls_section_end|>",
    "harmony": "<|start|>a<|message|>" * 45_000,
    "llama": "<|python_tag|>" + '{"name": "f", "parameters": {}};' * 30_000 + "1",
    "python_block": "<|tool_call_start|>[f(a=" + "f'{a}'" * 160_000 + ")]<|tool_call_end|>",
}


@pytest.mark.parametrize("style", UNCLOSED)
def test_what_only_looks_like_calls_takes_time_in_proportion_to_its_length(style: str) -> None:
    assert [call.arguments for call in parse_calls(BY_STYLE[style].format, UNCLOSED[style])] in ([], ["{}"])


def test_many_calls_one_after_the_other_are_all_read() -> None:
    text = "<|python_tag|>" + '{"name": "f", "parameters": {}}; ' * 30_000
    assert len(parse_calls(BY_STYLE["llama"].format, text)) == 30_000
