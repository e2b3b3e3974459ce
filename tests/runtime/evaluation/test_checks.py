"""Checks give a result a score from 0 to 1."""

import pytest

from pie_mlx.errors import InvalidArgumentError
from pie_mlx.runtime.evaluation.checks import check_named, checks_of
from pie_mlx.runtime.evaluation.dataset import Row

SCHEMA = {"type": "object", "required": ["stars"]}


def score(result, expected=None, *, check=None, chosen=None):
    row = Row("1", "line 1", {}, expected, () if check is None else (check,))
    (one,) = checks_of(row, check_named(chosen) if chosen else None)
    return one(result)


@pytest.mark.parametrize(
    ("name", "expected", "right", "wrong"),
    [
        ("exact", "Paris", " Paris\n", "paris"),
        ("exact", {"a": 1}, {"a": 1}, {"a": 2}),
        ("contains", "Paris", "It is Paris.", "It is Rome."),
        ("contains", ["a", "b"], "b and a", "a"),
        ("regex", r"\b\d{4}\b", "in 1789", "in 17890"),
        ("json-schema", SCHEMA, '{"stars": 3}', "{}"),
        ("json-schema", SCHEMA, {"stars": 3}, "no JSON"),
        ("number", 42, "6 times 7 is 42", "none"),
        ("number", 1234.5, "about 1,234.5", "about 1,235"),
    ],
)
def test_built_in_checks(name, expected, right, wrong):
    assert (score(right, expected, chosen=name), score(wrong, expected, chosen=name)) == (1.0, 0.0)
    assert (score(right, check={name: expected}), score(wrong, check={name.replace("-", "_"): expected})) == (1.0, 0.0)


def test_a_number_may_be_off_by_its_tolerance():
    check = {"number": 3.14, "tolerance": 0.01}
    assert (score("pi is 3.1416", check=check), score("pi is 3.2", check=check)) == (1.0, 0.0)


def test_without_a_check_the_result_must_be_the_expected_one():
    assert (score("a", "a"), score("b", "a")) == (1.0, 0.0)
    with pytest.raises(InvalidArgumentError, match="data set, line 1: neither 'expected' nor a check"):
        score("a")


def test_a_function_of_a_file_scores(tmp_path):
    (tmp_path / "mine.py").write_text("def half(result, expected):\n    return 0.5 if result == expected else 2\n")
    name = f"{tmp_path / 'mine.py'}:half"
    assert score("a", "a", chosen=name) == 0.5
    with pytest.raises(InvalidArgumentError, match="it returned 2"):
        score("a", "b", chosen=name)


def test_a_function_of_a_module_scores(tmp_path, monkeypatch):
    (tmp_path / "my_eval_module.py").write_text("def same(result, expected):\n    return result == expected\n")
    monkeypatch.chdir(tmp_path)
    assert score("a", "a", chosen="my_eval_module:same") == 1.0


@pytest.mark.parametrize("name", ["wrong", "no_such_module:f", "none.py:f", "json:no_such_function"])
def test_an_unknown_check_is_refused(name):
    with pytest.raises(InvalidArgumentError, match="check"):
        check_named(name)


@pytest.mark.parametrize(
    "check", ["os:system", {"os:system": "x"}, {"exact": 1, "more": 2}, 7, {}, {"number": "x"}, {"regex": "("}]
)
def test_a_row_names_built_in_checks_only_and_rightly(check):
    with pytest.raises(InvalidArgumentError):
        score("a", check=check)


def test_a_schema_fetches_nothing():
    with pytest.raises(InvalidArgumentError, match="not in the schema"):
        score("3", {"$ref": "http://127.0.0.1:9/schema"}, chosen="json-schema")
