"""Calls with tagged parameters as grammars: every reply that is accepted is a call that its tool's schema allows."""

import json
import random
import re
from datetime import date
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator, FormatChecker

from pie_mlx.calls import GrammarSource
from pie_mlx.engine.text.grammar import Matcher
from pie_mlx.engine.text.value_kinds import KINDS
from pie_mlx.errors import GrammarError
from tests.engine.text import tool_templates
from tests.engine.text.grammar.speaker import Speak, Speaker

CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
WEATHER = json.dumps({"name": "weather", "parameters": CITY})
TAGS_OF_GLM = ("<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>")
RFC_3339 = FormatChecker(Draft202012Validator.FORMAT_CHECKER.checkers)


@RFC_3339.checks("date", ValueError)
def is_date(value: object) -> bool:
    """Python's own dates begin with the year 1; year 2000 has the same days as year 0."""
    return not isinstance(value, str) or bool(date.fromisoformat(re.sub("^0000-", "2000-", value)))


FORMATS: dict[str, tuple[str, tuple[str, ...]]] = {
    "function_tags": (tool_templates.FUNCTION_TAGS, ()),
    "key_value_tags": (tool_templates.KEY_VALUE_TAGS, ()),
    "key_value_tokens": (tool_templates.KEY_VALUE_TAGS, TAGS_OF_GLM),
    "key_value_lines": (tool_templates.KEY_VALUE_LINES, TAGS_OF_GLM),
    "invoke_tags": (tool_templates.INVOKE_TAGS, ()),
}
ENDS = ("\n</parameter>\n", "</parameter>\n", "</arg_value>", "</function>\n", "</invoke>\n", "</tool_call>")
SIGNS = ("</minimax:tool_call>", *'"}]', "true", "null", "0", "1", "-", ".", "a", ":")
HARD_TEXTS = [
    "",
    "a",
    " a",
    "a ",
    "null",
    "3",
    "true",
    "[1]",
    "{}",
    "\n",
    "a\n",
    "<",
    "</",
    "é",
    "</arg",
    '"q"',
    "</b>",
    "None",
]
SEVERAL_MEANINGS = [None, 3, True, "a", "null", "3", 0.5, "[1]", "true"]
EXPONENT = re.compile(r"[0-9]e[-+]?[0-9]")
"""Python writes some numbers with one that were written without; inside of JSON they are not taken so."""
BEYOND_FLOATS = re.compile(r"[0-9][eE]\+?[0-9]{3}")
"""A text with such a number is no call."""


@pytest.fixture(params=FORMATS)
def model(request: pytest.FixtureRequest, speak: Speak) -> Speaker:
    return speak(*FORMATS[request.param])


def tool(argument: object, **others: object) -> str:
    point = {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}
    properties = {"a": argument, **others}
    return json.dumps(
        {"name": "f", "parameters": {"properties": properties, "required": ["a"], "$defs": {"point": point}}}
    )


def texts() -> st.SearchStrategy[dict[str, Any]]:
    lengths = st.fixed_dictionaries({}, optional={"minLength": st.integers(0, 3), "maxLength": st.integers(3, 6)})
    patterns = st.sampled_from([r"^[a-c]+$", r"\d", r"^a|b$", r"^\s*x", r"[^<]", r"^(null|333|x)$", r"^[<\/t>]{2,}$"])
    formats = st.sampled_from(
        ["date", "time", "date-time", "uuid", "ipv4", "ipv6", "email", "hostname", "uri", "duration"]
    )
    return st.one_of(
        lengths.map(lambda one: {"type": "string", **one}),
        st.lists(st.sampled_from(HARD_TEXTS), min_size=1, unique=True).map(lambda some: {"enum": some}),
        st.sampled_from(HARD_TEXTS).map(lambda one: {"type": "string", "const": one}),
        patterns.map(lambda one: {"type": "string", "pattern": one}),
        st.tuples(patterns, lengths).map(lambda both: {"type": "string", "allOf": [{"pattern": both[0]}, both[1]]}),
        formats.map(lambda one: {"type": "string", "format": one}),
    )


def others() -> st.SearchStrategy[dict[str, Any]]:
    return st.one_of(
        st.just({"type": "boolean"}),
        st.just({"type": "null"}),
        st.integers(-20, 20).map(lambda one: {"type": "integer", "minimum": one, "maximum": one + 9}),
        st.just({"type": "integer", "multipleOf": 3}),
        st.just({"type": "number", "minimum": -1.5, "maximum": 2.25}),
        st.just({"type": "number", "minimum": 0, "maximum": 9, "multipleOf": 0.5}),
        st.just({"enum": [1, None, False]}),
        st.just({"allOf": [{"type": "integer"}, {"minimum": 5}]}),
    )


def nullable() -> st.SearchStrategy[dict[str, Any]]:
    return st.one_of(
        texts().map(lambda one: {"anyOf": [one, {"type": "null"}]}),
        texts().map(
            lambda one: {
                "oneOf": [{"type": "string", **one}, {"type": ["boolean", "array"], "items": {"type": "boolean"}}]
            }
        ),
        st.just({"type": ["string", "integer", "null"], "minLength": 2}),
        st.just({"type": ["string", "object"], "pattern": "^[ {]"}),
        st.lists(st.sampled_from(SEVERAL_MEANINGS), min_size=1).map(lambda some: {"enum": some}),
        st.just({}),
        st.just({"$ref": "#/$defs/tree"}),
    )


def nested(inner: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    return st.one_of(
        inner.map(lambda one: {"type": "array", "items": one, "maxItems": 2}),
        inner.map(
            lambda one: {"type": "object", "properties": {"x": one, "y": {"type": "boolean"}}, "required": ["x"]}
        ),
        inner.map(lambda one: {"type": "object", "additionalProperties": one}),
        st.just({"type": "array"}),
        st.just({"type": "object"}),
    )


def tools() -> st.SearchStrategy[dict[str, Any]]:
    leaves = st.one_of(texts(), others(), nullable())
    properties = st.dictionaries(
        st.sampled_from(["a", "b c", "d-e", "é"]), st.one_of(leaves, nested(leaves)), max_size=3
    )
    return properties.flatmap(
        lambda found: st.lists(st.sampled_from(sorted(found)) if found else st.nothing(), unique=True).map(
            lambda required: {
                "type": "object", "properties": found, "required": required, "$defs": DEFINITIONS,
            }
        )
    )  # fmt: skip


DEFINITIONS: dict[str, Any] = {
    "tree": {"type": "object", "properties": {"v": {"type": "string"}, "next": {"$ref": "#/$defs/tree"}}},
    "mixed": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"$ref": "#/$defs/mixed"}}, {"type": "number"}]},
    "short": {"type": ["string", "null"], "maxLength": 3},
}


def combined(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    properties = st.dictionaries(st.sampled_from("xyz"), inner, max_size=2)
    rest = {"additionalProperties": st.one_of(st.booleans(), inner), "required": st.just(["x"])}
    objects = st.fixed_dictionaries({"type": st.just("object"), "properties": properties}, optional=rest)
    parts = st.lists(inner, min_size=1, max_size=2)
    return st.one_of(
        objects,
        inner.map(lambda one: {"type": "array", "items": one, "maxItems": 2}),
        st.tuples(st.sampled_from(["anyOf", "allOf", "oneOf"]), parts).map(lambda both: {both[0]: both[1]}),
        st.tuples(inner, objects).map(lambda both: {"anyOf": [both[0]], **both[1]}),
        inner.map(lambda one: {"$ref": "#/$defs/mixed", **(one if isinstance(one, dict) else {})}),
    )


def anything() -> st.SearchStrategy[Any]:
    kinds = st.lists(st.sampled_from(sorted(KINDS)), min_size=1, max_size=4, unique=True).map(
        lambda some: {"type": some}
    )
    references = st.sampled_from(sorted(DEFINITIONS)).map(lambda name: {"$ref": f"#/$defs/{name}"})
    bounds = st.sampled_from([{"minLength": 2}, {"minimum": 3}, {"maxItems": 1}, {"required": ["x"]}])
    constants = st.just({"enum": [[1], {"x": "a"}, "b", 2, None]})
    leaves = st.one_of(texts(), others(), nullable(), kinds, references, bounds, constants, st.just(True))
    return st.recursive(leaves, combined, max_leaves=5)


def walk(model: Speaker, matcher: Matcher, draw: random.Random) -> str:
    """A reply of allowed tokens: at random for a while, then whatever ends it."""
    reply: list[int] = []
    free = draw.choice([5, 40, 80])
    for turn in range(400):
        if matcher.is_complete and (turn > free or draw.random() < 0.3):
            return model.text(reply)
        ending = model.encoded(*ENDS, *SIGNS) if turn > free or draw.random() < 0.1 else []
        allowed = model.allowed(matcher)
        chosen = next((tokens for tokens in ending if tokens[0] in allowed and _takes(matcher, tokens)), None)
        tokens = chosen or [draw.choice(allowed)]
        if tokens[0] in model.chat.stop_tokens:
            return model.text(reply)
        assert matcher.try_accept(tokens) == len(tokens)
        reply += tokens
    assume(False)
    raise AssertionError


def _takes(matcher: Matcher, tokens: list[int]) -> bool:
    return matcher.fork().try_accept(tokens) == len(tokens)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(offered=st.lists(tools(), min_size=1, max_size=2), seed=st.integers(0, 2**32))
def test_what_is_accepted_parses_to_arguments_that_the_schema_allows(
    model: Speaker, offered: list[dict[str, Any]], seed: int
) -> None:  # D4, D7
    schemas = [json.dumps({"name": f"f{i}", "parameters": parameters}) for i, parameters in enumerate(offered)]
    reply = walk(model, model.matcher(*schemas), random.Random(seed))
    check_calls(model, reply, schemas, offered)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(properties=st.dictionaries(st.sampled_from("ab"), anything(), min_size=1), seed=st.integers(0, 2**32))
def test_whatever_is_not_refused_is_enforced(model: Speaker, properties: dict[str, Any], seed: int) -> None:  # D7
    parameters = {"type": "object", "properties": properties, "required": sorted(properties), "$defs": DEFINITIONS}
    schema = json.dumps({"name": "f0", "parameters": parameters})
    try:
        matcher = model.matcher(schema)
    except GrammarError as error:
        if "panic" in error.message:
            raise
        return
    check_calls(model, walk(model, matcher, random.Random(seed)), [schema], [parameters])


def check_calls(model: Speaker, reply: str, schemas: list[str], offered: list[dict[str, Any]]) -> None:
    """A reply that was taken: its calls are of tools that are `offered`, and are taken as the template writes them."""
    if BEYOND_FLOATS.search(reply):
        return
    calls = model.chat.parse_calls(reply, schemas)
    blocks = max(reply.count("<function="), reply.count("<tool_call>"), reply.count("<invoke name="))
    assert 1 <= len(calls) <= blocks, reply
    for call in calls:
        arguments = json.loads(call.arguments)
        parameters = offered[int(call.name[1:])]
        Draft202012Validator(parameters, format_checker=RFC_3339).validate(arguments)
    written = model.written(*[(call.name, json.loads(call.arguments)) for call in calls])
    if not EXPONENT.search(written):
        assert model.takes(written, *schemas), written


Fitting = st.SearchStrategy[tuple[dict[str, Any], Any]]
"""Schemas, each with a value of it."""


def fitting_texts() -> Fitting:
    letters = st.text(alphabet='ab <>/é\n"{[3\\', max_size=8)
    return st.one_of(
        letters.map(lambda one: ({"type": "string"}, one)),
        letters.map(lambda one: ({"type": "string", "minLength": len(one), "maxLength": len(one) + 1}, one)),
        letters.map(lambda one: ({"enum": ["x", one]}, one)),
        st.uuids().map(lambda one: ({"type": "string", "format": "uuid"}, str(one))),
        st.dates().map(lambda one: ({"type": "string", "format": "date"}, one.isoformat())),
        st.datetimes().map(lambda one: ({"type": "string", "format": "date-time"}, f"{one.isoformat()}Z")),
        st.ip_addresses().map(lambda one: ({"type": "string", "format": f"ipv{one.version}"}, str(one))),
    )


def fitting_others() -> Fitting:
    hundredths = st.integers(-(10**6), 10**6).map(lambda one: one / 100)
    return st.one_of(
        st.booleans().map(lambda one: ({"type": "boolean"}, one)),
        st.just(({"type": "null"}, None)),
        st.integers(-(2**60), 2**60).map(lambda one: ({"type": "integer"}, one)),
        st.integers(-99, 99).map(lambda one: ({"type": "integer", "minimum": one, "exclusiveMaximum": one + 5}, one)),
        hundredths.map(lambda one: ({"type": "number"}, one)),
        hundredths.map(lambda one: ({"type": "number", "minimum": -(10**4), "maximum": 10**4}, one)),
    )


def fitting_nested(inner: Fitting) -> Fitting:
    return st.one_of(
        st.lists(inner, min_size=1, max_size=2).map(
            lambda some: ({"type": "array", "items": {"anyOf": [kind for kind, _ in some]}}, [one for _, one in some])
        ),
        inner.map(
            lambda one: ({"type": "object", "properties": {"x": one[0], "y": {}}, "required": ["x"]}, {"x": one[1]})
        ),
        inner.map(lambda one: ({"type": "object", "additionalProperties": one[0]}, {"a b": one[1], "é": one[1]})),
        st.just(({"type": "object"}, {"x": [1, None, {"y": "</b>"}]})),
    )


def fitting() -> Fitting:
    leaves = st.one_of(fitting_texts(), fitting_others())
    nullable = fitting_others().map(lambda one: ({"anyOf": [one[0], {"type": "null"}]}, one[1]))
    floats = st.floats(-1e300, 1e300).map(lambda one: ({"type": "number"}, one))
    return st.one_of(leaves, nullable, floats, fitting_nested(leaves), fitting_nested(fitting_nested(leaves)))


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(found=st.lists(fitting(), min_size=1, max_size=3))
def test_arguments_that_a_schema_allows_are_accepted_as_the_template_writes_them(
    model: Speaker, found: list[tuple[dict[str, Any], Any]]
) -> None:  # D7
    parameters = {"properties": {f"p{i}": schema for i, (schema, _) in enumerate(found)}}
    arguments = {f"p{i}": value for i, (_, value) in enumerate(found)}
    schema = json.dumps({"name": "f", "parameters": parameters})
    reply = model.written(("f", arguments))
    assert model.takes(reply, schema), reply
    assert [json.loads(call.arguments) for call in model.chat.parse_calls(reply, [schema])] == [arguments]


def test_tagged_arguments_are_enforced(model: Speaker) -> None:  # D7
    good = model.written(("weather", {"city": "Rome"}))
    assert model.takes(good, WEATHER)
    assert model.takes(model.written(*[("weather", {"city": "Rome"})] * 3), WEATHER)
    for bad in (good.replace("weather", "feather"), good.replace("city", "town"), "Hello", f" {good}"):
        assert not model.takes(bad, WEATHER), bad


@pytest.mark.parametrize(
    "value", ["", " a ", "\n", "a\n\nb", '{"a": "', "</b>", "<parameter", "é🙂", "null", "\x00\x1f\x7f\x85\u2028\ue000"]
)
def test_a_string_is_taken_and_read_as_it_is_written(model: Speaker, value: str) -> None:
    reply = model.written(("weather", {"city": value}))
    assert model.takes(reply, WEATHER)
    assert [json.loads(call.arguments) for call in model.chat.parse_calls(reply, [WEATHER])] == [{"city": value}]


@pytest.mark.parametrize(
    "value", ["a</tool_call>b", "</parameter>", "</arg_value>x", "</function>", "</minimax:tool_call>"]
)
@pytest.mark.parametrize("place", ["text", "list", "name", "anything"])
def test_text_that_a_reader_would_take_for_an_end_is_refused(model: Speaker, value: str, place: str) -> None:
    inside: Any = {"text": value, "list": [value], "name": {value: 1}, "anything": [{"x": value}]}[place]
    kind = {
        "text": {"type": "string"},
        "list": {"type": "array", "items": {"type": "string"}},
        "name": {"type": "object"},
    }
    schema = tool(kind.get(place, {}))
    reply = model.written(("f", {"a": inside}))
    if model.takes(reply, schema):
        assert [json.loads(call.arguments) for call in model.chat.parse_calls(reply, [schema])] == [{"a": inside}]


@pytest.mark.parametrize(
    ("argument", "good", "bad"),
    [
        ({"enum": ["a", "b c"]}, ["a", "b c"], ["a ", " a", "b", ""]),
        ({"const": "x"}, ["x"], ["x\n", " x"]),
        ({"const": "\x00\x1f\x7f\x85\u2028🙂\\/"}, ["\x00\x1f\x7f\x85\u2028🙂\\/"], ["x"]),
        ({"type": "string", "minLength": 2}, ["ab", "  "], ["a", ""]),
        ({"type": "string", "maxLength": 2}, ["", "é🙂"], ["abc"]),
        ({"type": "string", "pattern": "^[ab]+$", "maxLength": 3}, ["aba"], ["abab", "c", " a"]),
        ({"type": "string", "pattern": "b|^c"}, ["abx", "cx"], ["xc"]),
        ({"type": "string", "format": "date", "pattern": "^2"}, ["2024-02-29"], ["1999-01-01", "2023-02-29", "soon"]),
        ({"type": "string", "format": "time"}, ["23:59:59Z"], ["24:00:00Z"]),
        ({"type": "string", "format": "date-time"}, ["2024-02-29T23:59:59.5+01:00"], ["2024-02-30T00:00:00Z"]),
        ({"type": "string", "format": "ipv6"}, ["::", "1::8", "::1", "1:2:3:4:5:6:7:8"], ["1:2", "1::2::3", ":1"]),
        ({"allOf": [{"type": "integer"}, {"minimum": 5}]}, [5, 12], [4]),
        ({"type": "number", "multipleOf": 0.5}, [1.5, 2], [1.25]),
        ({"type": ["string", "null"], "minLength": 2}, [None, "ab"], ["a"]),
        ({"type": "string", "anyOf": [{"maxLength": 1}, {"type": "null"}, {"const": None}]}, ["a"], ["null", "ab"]),
        ({"anyOf": [{"type": "string"}, {"type": "array"}]}, ["a", [1, "b"], []], []),
        ({"anyOf": [{"$ref": "#/$defs/point"}, {"type": "string"}]}, ["a", {"x": 1}], [{"x": "a"}, {}]),
        ({"allOf": [{"$ref": "#/$defs/point"}], "description": "where"}, [{"x": 1}], [{"x": "a"}, "a"]),
        ({"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]}, [["a"], None], [["a", 1], "a"]),
        (
            {"type": "object", "properties": {"x": {"type": "integer"}}, "additionalProperties": True},
            [{"x": 1, "y": ["a"]}],
            [{"x": "a"}],
        ),
        ({"type": ["number", "null"]}, [1e20, 1e-7, 1.5e300, None], ["a", True]),
        ({"type": "integer"}, [10**30, -3], [1.5, "a"]),
    ],
)
def test_a_value_is_as_its_schema_says(model: Speaker, argument: Any, good: list[Any], bad: list[Any]) -> None:
    for value in good:
        reply = model.written(("f", {"a": value}))
        assert model.takes(reply, tool(argument)), reply
        assert json.loads(model.chat.parse_calls(reply, [tool(argument)])[0].arguments) == {"a": value}
    for value in bad:
        assert not model.takes(model.written(("f", {"a": value})), tool(argument)), value


@pytest.mark.parametrize("number", ["1e999", "9e21939", f"-{'9' * 400}.5", "9" * 5000])
@pytest.mark.parametrize("kind", ["number", "integer", "array", "object"])
def test_numbers_that_nothing_holds_are_refused(model: Speaker, number: str, kind: str) -> None:  # D4
    text = {"array": f"[{number}]", "object": f'{{"x":{number}}}'}.get(kind, number)
    reply = model.written(("f", {"a": text}))
    assert not model.takes(reply, tool({"type": kind}))


@pytest.mark.parametrize("space", [" ", "\n", "\t"])
def test_no_space_stands_around_a_value(model: Speaker, space: str) -> None:
    for argument in ({"enum": ["a"]}, {"type": "integer"}, {"type": "boolean"}, {"type": "array"}, {"type": "null"}):
        for value in ("a", "1", "true", "[]", "null"):
            for spaced in (space + value, value + space):
                assert not model.takes(model.written(("f", {"a": spaced})), tool(argument)), (argument, spaced)


def test_the_longest_text_is_followed_by_its_tag(model: Speaker) -> None:  # the engine panicked on a tag of one token
    schema = tool({"anyOf": [{"type": "string", "minLength": 1, "maxLength": 4}, {"type": "null"}]})
    reply = model.tokenizer.encode(model.written(("f", {"a": "abcd"})))
    matcher = model.matcher(schema)
    for token in reply:
        assert token in model.allowed(matcher)
        assert matcher.try_accept([token]) == 1
    assert matcher.is_complete


def test_optional_parameters_are_left_out_in_any_combination(model: Speaker) -> None:
    integer = {"type": "integer"}
    schema = json.dumps(
        {"name": "f", "parameters": {"properties": {"a": integer, "b": integer, "c": integer}, "required": ["b"]}}
    )
    for names in ("b", "ab", "bc", "abc"):
        assert model.takes(model.written(("f", dict.fromkeys(names, 1))), schema), names
    for names in ("", "a", "ac", "ba", "abb", "bd"):
        assert not model.takes(model.written(("f", dict.fromkeys(names, 1))), schema) or names == "abb", names


def test_truth_is_also_taken_as_python_writes_it(speak: Speak) -> None:
    model = speak(tool_templates.FUNCTION_TAGS, ())
    reply = model.written(("f", {"a": "True"}))
    assert model.takes(reply, tool({"type": "boolean"}))
    assert json.loads(model.chat.parse_calls(reply, [tool({"type": "boolean"})])[0].arguments) == {"a": True}


@pytest.mark.parametrize(
    ("place", "argument"),
    [
        ("a.minimum", {"type": ["string", "integer"], "minimum": 3}),
        ("a.patternProperties", {"type": "object", "patternProperties": {"^x": {}}}),
        ("a.additionalProperties", {"properties": {"x": {}}, "additionalProperties": {"type": "integer"}}),
        ("a.enum", {"type": "array", "items": {"enum": ["</tool_call>"]}}),
        ("a.pattern", {"type": "string", "pattern": "(?i)abc"}),
        ("a", {"type": "string", "pattern": "^a$", "maxLength": 0}),
        ("a", {"type": "string", "pattern": "</parameter>"}),
        ("a", {"properties": {"x": {"type": "array"}}, "additionalProperties": True}),
    ],
)
def test_what_tags_cannot_be_held_to_is_refused_with_its_path(
    speak: Speak, place: str, argument: dict[str, object]
) -> None:
    model = speak(tool_templates.FUNCTION_TAGS, ())
    where = place.replace("a.enum", "a.items.enum").replace(".", r"\.")
    with pytest.raises(GrammarError, match=rf"f\.parameters: \$\.properties\.{where}: .* tagged calls"):
        model.matcher(tool(argument))


@pytest.mark.parametrize("value", [True, {"type": "integer"}])
def test_calls_with_parameters_that_are_declared_need_no_others(speak: Speak, value: object) -> None:
    model = speak(tool_templates.KEY_VALUE_TAGS, ())
    parameters = {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": value}
    schema = json.dumps({"name": "f", "parameters": parameters})
    assert model.takes(model.written(("f", {"a": "x"})), schema)
    assert not model.takes(model.written(("f", {"b": "1"})), schema)


@pytest.mark.parametrize("condition", [{"minProperties": 1}, {"additionalProperties": True, "properties": {}}])
def test_conditions_on_all_parameters_are_refused(speak: Speak, condition: dict[str, object]) -> None:
    model = speak(tool_templates.KEY_VALUE_TAGS, ())
    (keyword, *_) = condition
    schema = json.dumps({"name": "f", "parameters": {"type": "object", "properties": {"a": {}}, **condition}})
    with pytest.raises(GrammarError, match=rf"f\.parameters: \$\.{keyword}: .* tagged calls"):
        model.grammars.compile(GrammarSource("tools", schemas=[schema]))


@pytest.mark.parametrize("definition", [{"$anchor": "a"}, {"$id": "http://example.com/a"}])
def test_references_that_are_no_pointers_to_definitions_are_refused(speak: Speak, definition: dict[str, str]) -> None:
    model = speak(tool_templates.FUNCTION_TAGS, ())
    ref = definition.get("$id", "#a")
    parameters = {"properties": {"a": {"$ref": ref}}, "$defs": {"a": {"type": "integer", **definition}}}
    with pytest.raises(GrammarError, match=r"\$\.properties\.a\.\$ref: is not enforceable in tagged calls"):
        model.matcher(json.dumps({"name": "f", "parameters": parameters}))


def test_a_name_that_tags_do_not_take_is_refused(speak: Speak) -> None:
    model = speak(tool_templates.INVOKE_TAGS, ())
    for name in ("", " a", 'a"b', "a>b", "a\ue000"):
        with pytest.raises(GrammarError, match="has a name that tags do not take"):
            model.matcher(json.dumps({"name": "f", "parameters": {"properties": {name: {}}}}))


def test_control_tokens_are_no_text_of_tagged_calls(model: Speaker) -> None:
    for value in ("a<|im_start|>b", "a<s>b"):
        assert not model.takes(model.written(("weather", {"city": value})), WEATHER)
