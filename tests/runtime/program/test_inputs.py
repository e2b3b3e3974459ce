import pytest

from pie_mlx.errors import LaunchError
from pie_mlx.runtime.program.inputs import BEGINNING_CHARACTERS, beginning, fitting_input, parse_input, plain_input
from pie_mlx.runtime.program.parameters import Parameter, Parameters


def test_an_object_is_an_input():
    assert parse_input('{"a": [1, 2.5, null]}') == {"a": [1, 2.5, None]}


@pytest.mark.parametrize("name", ["NaN", "Infinity", "-Infinity"])
def test_numbers_json_does_not_have_are_refused_by_name(name):
    with pytest.raises(LaunchError, match=f"{name} is not allowed"):
        parse_input(f'{{"a": {name}}}')


@pytest.mark.parametrize("number", ["1e400", "-1e400"])
def test_a_number_too_large_for_a_float_is_refused_by_name(number):
    with pytest.raises(LaunchError, match=f"not JSON: {number} is too large for a float"):
        parse_input(f'{{"a": {number}}}')


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "not JSON"),
        ("[1]", "expected object, got list"),
        ("3", "got int"),
        ("null", "got null"),
        ("\udcff", "not JSON"),
    ],
)
def test_anything_but_an_object_is_refused(text, why):
    with pytest.raises(LaunchError, match=why):
        parse_input(text)


def test_deep_nesting_is_refused_instead_of_overflowing():
    with pytest.raises(LaunchError, match="nested deeper than 64 levels"):
        parse_input('{"a":' + "[" * 200_000 + "]" * 200_000 + "}")


def test_a_python_value_becomes_what_a_program_would_receive():
    given = {"items": (1, 2), 3: "three"}
    assert plain_input(given) == {"items": [1, 2], "3": "three"}
    assert plain_input(None) == {}


@pytest.mark.parametrize("value", [{"a": float("nan")}, {"a": object()}, {"a": {1, 2}}])
def test_python_values_json_cannot_hold_are_refused(value):
    with pytest.raises(LaunchError, match="not JSON"):
        plain_input(value)


def test_what_does_not_fit_the_parameters_is_refused_with_the_program_named():
    parameters = Parameters({"n": Parameter("n", "int")}, enforced=True, extra_allowed=False)
    with pytest.raises(LaunchError, match=r"program 'demo@0.1.0': missing parameter 'n' \(int\)"):
        fitting_input(parameters, {}, "demo@0.1.0")


def test_the_beginning_of_an_input_is_json_of_a_bounded_length_that_utf_8_can_carry():
    assert beginning({"a": [1, "é"]}) == '{"a": [1, "é"]}'
    assert beginning({"a": "\ud800"}) == '{"a": "\ufffd"}'
    assert len(beginning({"a": "x" * 10_000})) == BEGINNING_CHARACTERS


@pytest.mark.parametrize("value", ["[],", "0,", '"",', "1.5,", "{},"])
def test_an_input_has_a_bounded_number_of_values(value):
    with pytest.raises(LaunchError, match="more than 262144 values"):
        parse_input(f'{{"a": [{value * 300_000}0]}}')


def test_commas_and_brackets_in_texts_are_no_values():
    text = r"a, [b], {c}, \"d\", " * 50_000
    assert parse_input(f'{{"a": "{text}"}}') == {"a": text.replace("\\", "")}
