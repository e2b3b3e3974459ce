"""The input of a launch: strict JSON that fits the program's parameters."""

import asyncio
import json
import re
from collections.abc import Callable
from itertools import islice
from typing import TypeVar

from pie_mlx.documents import json_value
from pie_mlx.errors import InvalidArgumentError, LaunchError
from pie_mlx.runtime.program.findings import type_name
from pie_mlx.runtime.program.parameters import Input, Parameters, as_object
from pie_mlx.wire_text import clean_text

T = TypeVar("T")

INPUT_LIMIT_BYTES = 8 << 20
INPUT_LIMIT_VALUES = 1 << 18
"""Parsing holds the interpreter, so nothing else of the engine runs: this bounds it to about 25 ms."""
LONG_CHARACTERS = 64 << 10
"""Longer inputs are parsed on another thread."""
BEGINNING_CHARACTERS = 4096
_PARTS = re.compile(r'"(?:[^"\\]++|\\.)*+"|[\[{,]', re.DOTALL)
"""In JSON: a string, or the character before a value."""
_HINT = 'pass an object such as {"prompt": "hello"}'


def parse_input(text: str) -> Input:
    """Parse an input. Raises LaunchError for anything but a strict JSON object or an empty list."""
    try:
        if len(text) <= INPUT_LIMIT_BYTES and _has_too_many_values(text):
            raise LaunchError(f"input: more than {INPUT_LIMIT_VALUES} values", hint="send large data as a file")
        value = json_value(text.encode(), INPUT_LIMIT_BYTES, strict=True)
    except InvalidArgumentError as error:
        raise LaunchError(f"input: {error.message}", hint=_HINT) from None
    except UnicodeEncodeError as error:
        raise LaunchError(f"input: not JSON: {error}", hint=_HINT) from None
    found = as_object(value)
    if found is None:
        raise LaunchError(f"input: expected object, got {type_name(value)}", hint='pass {"name": value, ...}')
    return found


async def beside_the_loop(parse: Callable[[], T], characters: int) -> T:
    """The result of `parse`, which reads so many characters: on another thread if they are many."""
    return parse() if characters <= LONG_CHARACTERS else await asyncio.to_thread(parse)


def plain_input(value: object) -> Input:
    """A Python value as a program receives it, through JSON. Raises LaunchError if JSON cannot hold it."""
    try:
        return parse_input(json.dumps({} if value is None else value, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise LaunchError(f"input: not JSON: {error}", hint="pass a dict of JSON values") from None


def beginning(value: Input) -> str:
    """The input as JSON text, cut after BEGINNING_CHARACTERS."""
    return clean_text(json.dumps(value, ensure_ascii=False)[:BEGINNING_CHARACTERS])


def fitting_input(parameters: Parameters, value: Input, identity: str) -> Input:
    """The input with defaults filled in. Raises LaunchError that lists every mismatch."""
    if problems := parameters.problems(value):
        raise LaunchError(f"program '{identity}': {'; '.join(problems)}", hint="see 'pie check' for its parameters")
    return parameters.complete(value)


def _has_too_many_values(text: str) -> bool:
    if sum(map(text.count, "[{,")) <= INPUT_LIMIT_VALUES:
        return False
    found = (part for part in _PARTS.finditer(text) if part[0][0] != '"')  # strings may contain commas
    return next(islice(found, INPUT_LIMIT_VALUES, None), None) is not None
