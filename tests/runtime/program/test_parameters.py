import pytest

from pie_mlx.runtime.program.parameters import Parameter, Parameters, as_object, fits


def declared(*parameters, extra_allowed=False):
    return Parameters({p.name: p for p in parameters}, enforced=True, extra_allowed=extra_allowed)


PROMPT = Parameter("prompt", "string", description="The user message")
TOKENS = Parameter("max_tokens", "int", has_default=True, default=64, low=1, high=4096)


@pytest.mark.parametrize(
    ("type", "good", "bad"),
    [
        ("string", ["", "a"], [1, None, ["a"]]),
        ("int", [0, -3], [3.0, True, "3"]),
        ("float", [0.5, 3], [True, "0.5"]),
        ("bool", [True, False], [0, "true"]),
        ("list", [[], [1]], [{}, "a"]),
        ("object", [{}, {"a": 1}], [[], "{}"]),
        ("any", [None, 1, "a", []], []),
    ],
)
def test_types_are_strict(type, good, bad):
    assert [value for value in good if not fits(type, value)] == []
    assert [value for value in bad if fits(type, value)] == []


def test_everything_wrong_is_named_at_once():
    assert declared(PROMPT, TOKENS).problems({"max_token": 3, "max_tokens": "many"}) == [
        "missing parameter 'prompt' (string: The user message)",
        "parameter 'max_tokens': expected int, got string \"many\"",
        "unknown parameter 'max_token', did you mean 'max_tokens'?",
    ]


@pytest.mark.parametrize(
    ("value", "problem"),
    [(0, "expected at least 1, got 0"), (9999, "expected at most 4096, got 9999"), (1, ""), (4096, "")],
)
def test_ranges_include_their_ends(value, problem):
    assert TOKENS.problem(value) == problem


def test_choices_are_listed():
    style = Parameter("style", "string", choices=("short", "long"))
    assert style.problem("short") == ""
    assert style.problem("tiny") == 'expected one of "short", "long", got string "tiny"'


def test_defaults_are_filled_in():
    assert declared(PROMPT, TOKENS).complete({"prompt": "a"}) == {"prompt": "a", "max_tokens": 64}


def test_a_given_value_wins_over_the_default():
    assert declared(TOKENS).complete({"max_tokens": 3}) == {"max_tokens": 3}


def test_optional_parameters_may_stay_absent():
    parameters = declared(Parameter("style", "string", optional=True))
    assert parameters.problems({}) == []
    assert parameters.complete({}) == {}


def test_undeclared_names_pass_where_the_manifest_allows_them():
    assert declared(TOKENS, extra_allowed=True).problems({"other": 1}) == []


def test_the_table_describes_every_parameter():
    table = declared(PROMPT, TOKENS, Parameter("style", "string", optional=True, choices=("a", "b"))).table()
    assert table == [
        "prompt      string: The user message",
        "max_tokens  int (default 64)",
        'style       string (optional) ["a", "b"]',
    ]


@pytest.mark.parametrize(("value", "expected"), [({}, {}), ({"a": 1}, {"a": 1}), ([], {}), ([1], None), ("", None)])
def test_an_empty_list_counts_as_an_empty_object(value, expected):
    assert as_object(value) == expected
