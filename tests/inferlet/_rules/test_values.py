"""What a rule's function may do with symbolic values, and how each mistake is told."""

from array import array
from collections.abc import Callable
from functools import reduce
from itertools import count
from math import inf, nan
from typing import Any

import pytest

from inferlet import rule
from inferlet.rules import Number, Row, Value, Vector, Whole, hash_uniform, where
from pie_mlx.calls import RuleArray
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


def _loops_without_end(row: Row) -> Value:
    return reduce(lambda value, _: value.exp(), count(), row.logits)


def _branches_on_a_hidden_state(row: Row) -> Value:
    return row.logits if row.hidden_state.at(0) > 0.0 else -row.logits


def _takes_what_is_positive(row: Row) -> Value:
    return row.logits[row.logits > 0.0]


def _multiplies_a_row(row: Row) -> Value:
    return row.logits.matmul([[1.0, 2.0]])


def _adds_a_vector_to_a_row(row: Row) -> Value:
    return row.logits + row.hidden_state


def _takes_vectors_of_two_widths(row: Row) -> Value:
    return row.hidden_state.dot([1, 2]) + row.hidden_state.dot([1, 2, 3]) > 0.0


def _multiplies_uneven_rows(row: Row) -> Value:
    return row.hidden_state.matmul([[1, 2], [1]]).sum() > 0.0


def _has_10_mb_of_constants(row: Row) -> Value:
    return row.hidden_state.dot(array("f", bytes(10 << 20))) > 0.0


def _has_a_nan_weight(row: Row) -> Value:
    return row.hidden_state.dot([1.0, nan]) > 0.0


def _has_no_weights(row: Row) -> Value:
    return row.hidden_state.dot([]) > 0.0


def _adds_nan(row: Row) -> Value:
    return row.logits + nan


def _adds_a_list(row: Row) -> Value:
    return row.hidden_state * [1.0, 2.0] > 0.0  # type: ignore[operator]


def _takes_a_place_of_a_row(row: Row) -> Value:
    return row.hidden_state.at(row.tokens) > 0.0


@pytest.mark.parametrize(
    ("function", "message", "hint"),
    [
        (_branches, "a value has no truth", "where(condition, a, b)"),
        (_loops, "a value cannot be looped over", "all tokens at once"),
        (_converts, "a value is no number yet", "as a state"),
        (_loops_without_end, "more than 256 operations", "each time"),
        (_branches_on_a_hidden_state, "a value has no truth", "where(condition, a, b)"),
        (_takes_what_is_positive, "a value has no parts: their shape would depend on it", "choose with where"),
        (_multiplies_a_row, "matmul of a row of floats", "a vector"),
        (_adds_a_vector_to_a_row, "add of a row of floats and a vector of as many floats as the model is wide", "dot"),
        (_takes_vectors_of_two_widths, "multiply: vectors of 2 and 3 numbers", "equally long"),
        (_multiplies_uneven_rows, "a matrix whose rows are not equally long", "for each output"),
        (_has_10_mb_of_constants, "more than 65536 numbers in all arrays", "fewer outputs"),
        (_has_a_nan_weight, "a constant vector: a number that is not finite", "finite numbers"),
        (_has_no_weights, "a constant vector without numbers", "finite numbers"),
        (_adds_nan, "NaN in a rule", "a number"),
        (_adds_a_list, "list in a rule", "row.vector(...)"),
        (_takes_a_place_of_a_row, "element: its place is a row of integers", "one integer"),
        (_adds_conditions, "add: it takes float and float, got float and condition", "where(condition, a, b)"),
        (_sums_a_number, "sum of one float", "a row or vector"),
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


def test_a_state_that_is_a_vector_is_refused() -> None:
    with pytest.raises(InvalidTypeError, match="state past is a vector of as many floats as the model is wide"):

        @rule
        def carries_a_vector(row: Row, past: Number) -> tuple[Value, dict[str, Number]]:
            return row.logits, {"past": row.hidden_state * past}


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


@rule
def _aimed(row: Row, direction: Vector, most: Number = 2.0) -> Value:
    return row.hidden_state.dot(direction) + row.hidden_state.dot([1, 2]) > most


def test_a_vector_is_a_parameter_of_its_own_kind() -> None:
    used = _aimed(direction=(1, 0.5))
    assert (used.parameters, used.vectors) == ({"most": 2.0}, {"direction": bytes.fromhex("0000803f0000003f")})
    assert used.graph.arrays == (RuleArray(2, bytes.fromhex("0000803f00000040")),)
    assert used.after([]).vectors == used.broken_at([3]).vectors == used.vectors


@pytest.mark.parametrize("value", [3.0, "ab", [1.0, "b"], [1.0, inf], None])
def test_a_vector_of_other_things_than_finite_numbers_is_refused(value: Any) -> None:
    with pytest.raises(PieError, match=r"rule _aimed: .*direction"):
        _aimed(direction=value)


def test_only_a_rule_with_vectors_is_of_the_second_version() -> None:
    assert (_aimed.graph.version, _scaled.graph.version) == (2, 1)


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
