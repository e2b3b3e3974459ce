"""Command-line style arguments."""

from typing import Any

import pytest

from inferlet import parse_args
from pie_mlx.errors import InvalidArgumentError, InvalidTypeError


def test_values_follow_their_key() -> None:  # I2
    arguments = parse_args(["--n", "4", "file", "--rate=0.5", "-v", "rest"])
    assert arguments.value_from_str("--n", int) == 4
    assert arguments.value_from_str("--rate", float) == 0.5
    assert arguments.contains("-v")
    assert not arguments.contains("-v")
    assert arguments.free_from_str() == "file"
    assert arguments.finish() == ["rest"]
    assert arguments.finish() == []


def test_text_is_the_default_type() -> None:
    assert parse_args(["--name", "a=b"]).value_from_str("--name") == "a=b"
    assert parse_args(["--name=a=b"]).opt_value_from_str("--name") == "a=b"


def test_missing_values() -> None:  # I2
    assert parse_args([]).opt_value_from_str("--n", int) is None
    assert parse_args(["--number=5"]).opt_value_from_str("--n", int) is None
    for arguments in (parse_args([]), parse_args(["--n"])):
        with pytest.raises(InvalidArgumentError, match="--n"):
            arguments.value_from_str("--n", int)
    with pytest.raises(InvalidArgumentError):
        parse_args([]).free_from_str()


def test_a_malformed_value_is_not_taken() -> None:  # I2, E3
    arguments = parse_args(["--n", "four", "x"])
    with pytest.raises(InvalidArgumentError, match="four"):
        arguments.opt_value_from_str("--n", int)
    assert arguments.finish() == ["--n", "four", "x"]
    arguments = parse_args(["x"])
    with pytest.raises(InvalidArgumentError):
        arguments.free_from_str(int)
    assert arguments.free_from_str() == "x"


def test_a_value_that_is_looked_up_and_not_there_is_malformed() -> None:  # I2
    with pytest.raises(InvalidArgumentError, match="--size"):
        parse_args(["--size", "huge"]).value_from_str("--size", {"small": 1}.__getitem__)


@pytest.mark.parametrize("argv", ["--n 4", ["--n", 4], [b"--n"], 5, None], ids=repr)
def test_anything_but_a_list_of_words_is_refused(argv: Any) -> None:  # I2
    with pytest.raises(InvalidTypeError, match="argument"):
        parse_args(argv)


@pytest.mark.parametrize(("text", "value"), [("true", True), ("No", False), ("1", True)])
def test_booleans_are_read(text: str, value: bool) -> None:
    assert parse_args([f"--on={text}"]).value_from_str("--on", bool) is value


def test_other_words_are_no_booleans() -> None:
    with pytest.raises(InvalidArgumentError):
        parse_args(["--on", "maybe"]).value_from_str("--on", bool)
