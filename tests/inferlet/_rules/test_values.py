"""What a rule's function may do with symbolic values, and how each mistake is told."""

from collections.abc import Callable
from typing import Any

import pytest

from inferlet import rule
from inferlet.rules import Number, Row, Value, Whole, hash_uniform, where
from pie_mlx.errors import InvalidArgumentError, InvalidTypeError, PieError


def _branches(row: Row) -> Value:
    return row.logits if row.entropy > 1.0 else row.logits / 2.0


def _loops(row: Row) -> Value:
    return next(value * 2.0 for value in row.logits)  # type: ignore[attr-defined]


def _converts(row: Row) -> Value:
    return row.logits * float(row.entropy)


def _adds_conditions(row: Row) -> Value:
    return row.logits + row.seen


def _sums_a_number(row: Row) -> Value:
    return row.logits - row.entropy.sum()


def _joins_numbers(row: Row) -> Value:
    return where(row.logits & row.seen, row.logits, 0.0)


def _adds_a_text(row: Row) -> Value:
    return row.logits + "1"  # type: ignore[operator]


def _adds_integers(row: Row) -> Value:
    return row.logits + row.tokens


def _hashes_floats(row: Row) -> Value:
    return row.logits + hash_uniform(row.logits, row.previous, 3)


@pytest.mark.parametrize(
    ("function", "message", "hint"),
    [
        (_branches, "a value has no truth", "where(condition, a, b)"),
        (_loops, "a value cannot be looped over", "all tokens at once"),
        (_converts, "a value is no number yet", "as a state"),
        (_adds_conditions, "add: it takes float and float, got float and condition", "where(condition, a, b)"),
        (_sums_a_number, "sum of one float", "a row of the vocabulary"),
        (_joins_numbers, "and: it takes condition and condition, got float and condition", "compare two values"),
        (_adds_a_text, "str in a rule", "a parameter"),
        (_adds_integers, "add: it takes float and float, got float and integer", "to_float"),
        (_hashes_floats, "hash: it takes integer and integer and integer, got float", "to_integer"),
    ],
)
def test_a_mistake_is_told_with_its_line_and_what_to_write(
    function: Callable[..., Any], message: str, hint: str
) -> None:
    with pytest.raises(PieError) as raised:
        rule(function)
    line = function.__code__.co_firstlineno + 1
    assert str(raised.value).startswith(f"line {line}: {message}")
    assert hint in raised.value.hint


def test_an_answer_that_is_no_row_of_floats_is_refused() -> None:
    with pytest.raises(InvalidTypeError, match="rule answer: it answers <one float of a rule>"):

        @rule
        def answer(row: Row) -> Value:
            return row.entropy


def test_a_state_that_is_no_parameter_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="states that are no parameters: mu"):

        @rule
        def forgets(row: Row) -> tuple[Value, dict[str, Number]]:
            return row.logits, {"mu": row.entropy}


def test_a_state_that_is_a_row_is_refused() -> None:
    with pytest.raises(InvalidTypeError, match="state mu is a row of floats"):

        @rule
        def carries_a_row(row: Row, mu: Number) -> tuple[Value, dict[str, Number]]:
            return row.logits, {"mu": row.logits * mu}


@rule
def _scaled(row: Row, factor: Number, shift: Number = 1.0) -> Value:
    return row.logits * factor + shift


def test_parameters_left_out_have_their_defaults() -> None:
    assert _scaled(factor=2.0).parameters == {"factor": 2.0, "shift": 1.0}


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({}, "parameter factor is missing"),
        ({"factor": 1.0, "shfit": 2.0}, "no parameter shfit"),
        ({"factor": "2"}, "factor: got str"),
    ],
)
def test_parameters_that_do_not_fit_are_refused_by_name(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(PieError, match=f"rule _scaled: {message}"):
        _scaled(**parameters)


def test_equal_operations_are_written_down_once() -> None:
    @rule
    def twice(row: Row) -> Value:
        return row.log_probabilities + row.log_probabilities

    assert [node.operation for node in twice.graph.nodes] == ["logits", "log_total", "subtract", "add"]


def test_a_parameter_that_the_function_returns_is_a_state() -> None:
    @rule
    def counts(row: Row, steps: Number, key: Whole = 3) -> tuple[Value, dict[str, Number]]:
        return row.logits + hash_uniform(row.tokens, row.previous, key), {"steps": steps + 1.0}

    used = counts(steps=0)
    assert (used.parameters, used.state) == ({"key": 3.0}, {"steps": 0.0})
    assert {node.operation for node in counts.graph.nodes if node.name} == {"state", "integer_parameter"}
