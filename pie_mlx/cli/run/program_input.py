"""The input of a program, from `--input` or from the words after `--`."""

import math
import re
from collections import deque
from collections.abc import Iterable
from typing import Any, cast

import click

from pie_mlx.cli.run.request import RunRequest
from pie_mlx.documents import json_value
from pie_mlx.errors import InvalidArgumentError, LaunchError
from pie_mlx.runtime.program.findings import brief
from pie_mlx.runtime.program.inputs import parse_input
from pie_mlx.runtime.program.parameters import Input, Parameter, Parameters, fits

POSITIONAL = "_positional"

_INTEGER = re.compile(r"[+-]?[0-9]+")
_FLOAT = re.compile(r"[+-]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][+-]?[0-9]+)?")
_DIGITS = 64
"""Longer numbers lose digits."""
_FLAG = True


def program_input(request: RunRequest, parameters: Parameters) -> Input:
    """The input of the command line, checked. Raises click.UsageError that shows the parameters."""
    try:
        value = parse_input(request.input) if request.input is not None else input_from_words(request.words, parameters)
    except (InvalidArgumentError, LaunchError) as error:
        raise _misfit([error.message], parameters) from None
    if problems := [_readable(problem, value) for problem in parameters.problems(value)]:
        raise _misfit(problems, parameters)
    return value


def input_from_words(words: Iterable[str], parameters: Parameters) -> Input:
    """`--prompt foo --max-tokens 64` to `{"prompt": "foo", "max_tokens": 64}`.

    A declared parameter's type decides how its text is read. Raises InvalidArgumentError for an empty name and for text
    that does not fit an enforced type.
    """
    waiting = deque(words)
    folded: Input = {}
    while waiting:
        word = waiting.popleft()
        if _is_flag(word):
            name, text = _name_and_text(word, waiting, parameters)
            folded[name] = _value(parameters.declared.get(name), text, folded.get(name), parameters.enforced)
        else:
            cast("list[object]", folded.setdefault(POSITIONAL, [])).append(read_value(word))
    return folded


def read_value(text: str) -> int | float | bool | str:
    """A number or bool where the text is exactly one, else the text. Numbers that would lose digits stay text."""
    if len(text) <= _DIGITS and _INTEGER.fullmatch(text):
        number = int(text)
        return number if -(2**63) <= number < 2**63 else text
    if _FLOAT.fullmatch(text) and math.isfinite(float(text)):
        return float(text)
    return {"true": True, "false": False}.get(text, text)


def is_number(word: str) -> bool:
    """Whether a word is a number, hence a value and never a flag."""
    return bool(_INTEGER.fullmatch(word) or _FLOAT.fullmatch(word))


def _is_flag(word: str) -> bool:
    return not is_number(word) and (word.startswith("--") or _is_letter_flag(word))


def _is_letter_flag(word: str) -> bool:
    return len(word) == 2 and word[0] == "-" and word[1].isalpha()


def _name_and_text(word: str, waiting: deque[str], parameters: Parameters) -> tuple[str, str | None]:
    """The key and its text, None for a flag without one."""
    name, equals, text = word.lstrip("-").partition("=") if word.startswith("--") else (word[1], "", "")
    key = name.replace("-", "_")
    if not key:
        raise InvalidArgumentError(f"'{word}': a name is missing", hint="write --name value")
    if equals:
        return key, text
    parameter = parameters.declared.get(key)
    swallows = _takes_next(word, waiting, parameter)
    return key, waiting.popleft() if swallows else None


def _takes_next(word: str, waiting: deque[str], parameter: Parameter | None) -> bool:
    if not waiting:
        return False
    if parameter is not None and parameter.type == "bool":
        return waiting[0] in ("true", "false")
    return _is_letter_flag(word) or is_number(waiting[0]) or not waiting[0].startswith("-")


def _value(parameter: Parameter | None, text: str | None, earlier: object, enforced: bool) -> object:
    if parameter is None:
        return _FLAG if text is None else read_value(text)
    value = _FLAG if text is None else _typed(parameter, text, earlier)
    if fits(parameter.type, value):
        return value
    if enforced:
        shown = "no value" if text is None else brief(text)
        raise InvalidArgumentError(f"parameter '{parameter.name}': expected {parameter.type}, got {shown}")
    return _FLAG if text is None else read_value(text)


def _typed(parameter: Parameter, text: str, earlier: object) -> object:
    match parameter.type:
        case "string":
            return text
        case "float":
            value = read_value(text)
            return float(value) if fits("float", value) else value
        case "list":
            items: list[object] = [read_value(item) for item in text.split(",")] if text else []
            return [*cast("list[object]", earlier), *items] if isinstance(earlier, list) else items
        case "object":
            return _object(text)
        case _:
            return read_value(text)


def _object(text: str) -> Any:
    try:
        return json_value(text)
    except InvalidArgumentError:
        return text


def _readable(problem: str, value: Input) -> str:
    if problem.startswith(f"unknown parameter '{POSITIONAL}'"):
        return f"unexpected words {value[POSITIONAL]}: parameters are given as --name value"
    return problem


def _misfit(problems: list[str], parameters: Parameters) -> click.UsageError:
    table = "".join(f"\n     {line}" for line in parameters.table())
    return click.UsageError("; ".join(problems) + (f"\n     parameters:{table}" if table else ""))
