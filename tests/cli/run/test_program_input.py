import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pie_mlx.cli.run.program_input import input_from_words, read_value
from pie_mlx.errors import InvalidArgumentError
from pie_mlx.runtime.program.parameters import Parameter, Parameters

FREE = Parameters()


def typed(enforced=True, **types):
    return Parameters({name: Parameter(name, type) for name, type in types.items()}, enforced, extra_allowed=True)


@pytest.mark.parametrize(
    ("words", "folded"),
    [
        ("--prompt foo --max-tokens 64", {"prompt": "foo", "max_tokens": 64}),
        ("", {}),
        ("--verbose", {"verbose": True}),
        ("--verbose --prompt hi", {"verbose": True, "prompt": "hi"}),
        ("--name=value", {"name": "value"}),
        ("--name=a=b", {"name": "a=b"}),
        ("--name= x", {"name": "", "_positional": ["x"]}),
        ("--a 1 --a 2", {"a": 2}),
        ("-k v", {"k": "v"}),
        ("-k --flag", {"k": "--flag"}),
        ("-k", {"k": True}),
        ("-k -1", {"k": -1}),
        ("one 2 --a b three", {"_positional": ["one", 2, "three"], "a": "b"}),
        ("-abc", {"_positional": ["-abc"]}),
        ("--a -abc", {"a": True, "_positional": ["-abc"]}),
        ("-", {"_positional": ["-"]}),
        ("--shift -1", {"shift": -1}),
        ("--shift -0.5", {"shift": -0.5}),
        ("-1", {"_positional": [-1]}),
        ("--a -1e3", {"a": -1000.0}),
    ],
)
def test_words_fold_from_left_to_right(words, folded):
    assert input_from_words(words.split(), FREE) == folded


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0),
        ("+5", 5),
        ("-7", -7),
        ("007", 7),
        ("9223372036854775807", 9223372036854775807),
        ("9223372036854775808", "9223372036854775808"),
        ("-9223372036854775808", -9223372036854775808),
        ("-9223372036854775809", "-9223372036854775809"),
        ("1.5", 1.5),
        (".5", 0.5),
        ("1.", 1.0),
        ("1e3", 1000.0),
        ("1e999", "1e999"),
        ("true", True),
        ("false", False),
        ("True", "True"),
        ("nan", "nan"),
        ("inf", "inf"),
        ("-inf", "-inf"),
        ("1_000", "1_000"),
        (" 5", " 5"),
        ("5 ", "5 "),
        ("٣", "٣"),
        ("0x10", "0x10"),
        ("", ""),
        ("e5", "e5"),
        (".", "."),
    ],
)
def test_values_are_numbers_or_bools_only_in_exact_form(text, value):
    assert read_value(text) == value
    assert type(read_value(text)) is type(value)


@pytest.mark.parametrize("words", [["--"], ["--=x"]])
def test_an_empty_name_is_refused(words):
    with pytest.raises(InvalidArgumentError, match="a name is missing"):
        input_from_words(words, FREE)


@pytest.mark.parametrize(
    ("type", "words", "value"),
    [
        ("string", "--x 01234", "01234"),
        ("string", "--x true", "true"),
        ("string", "--x -1", "-1"),
        ("float", "--x 3", 3.0),
        ("float", "--x 2.5", 2.5),
        ("int", "--x 3", 3),
        ("bool", "--x false", False),
        ("bool", "--x true", True),
        ("bool", "--x", True),
        ("list", "--x a,2,c", ["a", 2, "c"]),
        ("list", "--x a --x b", ["a", "b"]),
        ("list", "--x=", []),
        ("object", '--x {"a":[1]}', {"a": [1]}),
        ("any", "--x 3", 3),
    ],
)
def test_a_declared_type_decides_how_text_is_read(type, words, value):
    folded = input_from_words(words.split(), typed(x=type))
    assert folded == {"x": value}
    assert repr(folded["x"]) == repr(value)


def test_a_declared_bool_does_not_swallow_the_next_word():
    assert input_from_words(["--x", "word"], typed(x="bool")) == {"x": True, "_positional": ["word"]}
    assert input_from_words(["-x", "word"], typed(x="bool")) == {"x": True, "_positional": ["word"]}


@pytest.mark.parametrize(
    ("type", "words", "shown"),
    [
        ("int", "--x many", '"many"'),
        ("int", "--x 1.5", '"1.5"'),
        ("float", "--x fast", '"fast"'),
        ("bool", "--x=maybe", '"maybe"'),
        ("object", "--x [1]", '"[1]"'),
        ("object", "--x {", '"{"'),
        ("string", "--x", "no value"),
        ("list", "--x", "no value"),
    ],
)
def test_text_that_does_not_fit_is_refused(type, words, shown):
    with pytest.raises(InvalidArgumentError) as error:
        input_from_words(words.split(), typed(x=type))
    assert error.value.message == f"parameter 'x': expected {type}, got {shown}"


def test_where_nothing_is_enforced_text_that_does_not_fit_is_read_as_undeclared():
    assert input_from_words(["--x", "many", "--y"], typed(enforced=False, x="int", y="string")) == {
        "x": "many",
        "y": True,
    }


def test_a_declared_name_with_an_underscore_is_found_by_its_flag():
    assert input_from_words(["--zip-code", "01234"], typed(zip_code="string")) == {"zip_code": "01234"}


words_of_any_kind = st.lists(
    st.one_of(
        st.text(max_size=8),
        st.from_regex(r"--[a-z][a-z-]{0,5}(=.{0,5})?", fullmatch=True),
        st.from_regex(r"-[a-z]", fullmatch=True),
        st.integers().map(str),
        st.floats().map(str),
    ),
    max_size=12,
)


@given(words_of_any_kind)
def test_folding_gives_strict_json_or_refuses(words):
    try:
        folded = input_from_words(words, FREE)
    except InvalidArgumentError:
        assert any(word.startswith("--") for word in words)
        return
    assert json.loads(json.dumps(folded, allow_nan=False)) == folded


@given(words_of_any_kind)
def test_no_word_is_lost(words):
    try:
        folded = input_from_words(words, FREE)
    except InvalidArgumentError:
        return
    flags = [word for word in words if word.startswith("-")]
    assert len(folded.get("_positional", [])) + 2 * len(flags) >= len(words)


@given(st.text(max_size=20))
def test_a_declared_string_keeps_any_text_after_an_equals_sign(text):
    assert input_from_words([f"--x={text}"], typed(x="string")) == {"x": text}


@given(st.one_of(st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False, allow_infinity=False), st.booleans()))
def test_json_scalars_survive_the_command_line(value):
    assert input_from_words(["--x", json.dumps(value)], FREE) == {"x": value}
