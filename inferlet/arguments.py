"""Command-line style arguments."""

from collections.abc import Callable, Iterable
from typing import TypeVar, overload

from inferlet._calls.checks import checked_text
from pie_mlx.errors import InvalidArgumentError, InvalidTypeError

T = TypeVar("T")

_MISSING = object()
_BOOLEANS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


class Arguments:
    """Arguments, each removed when it is read. A value follows its key (`--n 4`) or an equals sign (`--n=4`).

    `type` turns the text into a value; `bool` understands true/false, yes/no and 1/0.
    """

    def __init__(self, argv: Iterable[str]) -> None:
        if isinstance(argv, str) or not isinstance(argv, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidTypeError(
                f"arguments: got {type(argv).__name__}", hint="pass a list of words; shlex.split(text) makes one"
            )
        self._rest = [checked_text(word, "argument") for word in argv]

    @overload
    def value_from_str(self, key: str) -> str: ...
    @overload
    def value_from_str(self, key: str, type: Callable[[str], T]) -> T: ...
    def value_from_str(self, key: str, type: Callable[[str], object] = str) -> object:
        """Remove and return the value of `key`. Raises InvalidArgumentError when it is missing or malformed."""
        value = self._pop_value(key, type)
        if value is _MISSING:
            raise InvalidArgumentError(f"{key}: missing", hint=f"pass {key} VALUE")
        return value

    @overload
    def opt_value_from_str(self, key: str) -> str | None: ...
    @overload
    def opt_value_from_str(self, key: str, type: Callable[[str], T]) -> T | None: ...
    def opt_value_from_str(self, key: str, type: Callable[[str], object] = str) -> object:
        """Remove and return the value of `key`; None without it. Raises InvalidArgumentError when it is malformed."""
        value = self._pop_value(key, type)
        return None if value is _MISSING else value

    def contains(self, flag: str) -> bool:
        """Remove a flag; returns whether it was there."""
        if flag not in self._rest:
            return False
        self._rest.remove(flag)
        return True

    @overload
    def free_from_str(self) -> str: ...
    @overload
    def free_from_str(self, type: Callable[[str], T]) -> T: ...
    def free_from_str(self, type: Callable[[str], object] = str) -> object:
        """Remove and return the first remaining argument. Raises InvalidArgumentError for none or a malformed one."""
        if not self._rest:
            raise InvalidArgumentError("argument: missing", hint="pass one more argument")
        value = _convert("argument", self._rest[0], type)
        del self._rest[0]
        return value

    def finish(self) -> list[str]:
        """Remove and return all remaining arguments."""
        rest, self._rest = self._rest, []
        return rest

    def _pop_value(self, key: str, type: Callable[[str], object]) -> object:
        for place, argument in enumerate(self._rest):
            if argument == key:
                return self._pop_pair(key, place, type)
            if argument.startswith(f"{key}="):
                value = _convert(key, argument[len(key) + 1 :], type)
                del self._rest[place]
                return value
        return _MISSING

    def _pop_pair(self, key: str, place: int, type: Callable[[str], object]) -> object:
        if place + 1 == len(self._rest):
            raise InvalidArgumentError(f"{key}: its value is missing", hint=f"pass {key} VALUE")
        value = _convert(key, self._rest[place + 1], type)
        del self._rest[place : place + 2]
        return value


def parse_args(argv: Iterable[str]) -> Arguments:
    """Arguments to take values and flags from. Raises InvalidTypeError for anything but a list of words."""
    return Arguments(argv)


def _convert(key: str, text: str, type: Callable[[str], object]) -> object:
    if type is bool:
        return _boolean(key, text)
    try:
        return type(text)
    except (ValueError, ArithmeticError, LookupError) as error:
        wanted = getattr(type, "__name__", "value")
        raise InvalidArgumentError(
            f"{key}: {text!r} is not a valid {wanted}: {error}", hint=f"pass a {wanted}"
        ) from error


def _boolean(key: str, text: str) -> bool:
    if text.lower() not in _BOOLEANS:
        raise InvalidArgumentError(f"{key}: {text!r} is not a valid bool", hint="pass true or false")
    return _BOOLEANS[text.lower()]
