"""The JSON written so far, as far as items that must differ ask for it."""

import json
import re
from collections.abc import Sequence
from enum import Enum
from typing import Any, NamedTuple, cast

from pie_mlx.engine.text.grammar.unique_items.places import Place

_PLAIN = re.compile(rb'[^"\\]*')
_WORD = re.compile(rb"[-+.0-9A-Za-z]*")
_BLANK = frozenset(b" \t\n\r")
_DIGITS = 4000
"""Digits of an exponent; Python reads a few more."""
_LITERALS = frozenset({b"true", b"false", b"null"})


Openings = Sequence[tuple[bytes, Place]]
"""Texts before JSON inside other text, and the places of that JSON."""


class Mode(Enum):
    """What comes next: a value, more of a string, of a number or literal, of a key; what follows on a value; or text
    that is no JSON."""

    VALUE = 0
    STRING = 1
    WORD = 2
    KEY = 3
    BETWEEN = 4
    OUTSIDE = 5


class Level(NamedTuple):
    """An open array or object, with the number of the current item or the key of the current property.

    `begin`: where in the text the current item begins, -1 where items may be equal. `items` are the texts of those that
    are written, `keys` what they are equal by.
    """

    is_array: bool
    place: Place | None
    number: int = 0
    key: bytes = b""
    begin: int = -1
    items: tuple[bytes, ...] = ()
    keys: frozenset[Any] = frozenset()


class Written(NamedTuple):
    """`text`: the items that must differ from others, as far as they are written, without blanks. `word`: the number
    or literal that is being written, or the end of the text that is no JSON. `root`: the place of the JSON."""

    mode: Mode = Mode.VALUE
    levels: tuple[Level, ...] = ()
    text: bytes = b""
    word: bytes = b""
    escapes: bool = False
    root: Place | None = None

    @property
    def innermost(self) -> Level | None:
        """The array whose item is being written or may follow, where its items must differ."""
        level = self.levels[-1] if self.levels else None
        return level if level is not None and level.begin >= 0 else None

    @property
    def unique_levels(self) -> list[Level]:
        return [level for level in self.levels if level.begin >= 0]

    @property
    def is_between_items(self) -> bool:
        """Whether an item has ended and no other begun."""
        return self.mode is Mode.BETWEEN and self.innermost is not None

    def begun(self, level: Level) -> bytes | None:
        """What is written of the current item of a level; None where it has ended."""
        return None if self.is_between_items and level is self.levels[-1] else self.text[level.begin :]

    def rests(self, level: Level) -> list[bytes]:
        """What is missing of the current item of a level to be one of those that are there."""
        begun = self.begun(level)
        return [] if begun is None else [item[len(begun) :] for item in level.items if item.startswith(begun)]

    def then(self, data: bytes, openings: Openings = ()) -> "Written | None":
        """The same after more bytes; None where they complete an item that is there already. With `openings`, JSON is
        what follows one of them."""
        try:
            return _Writer(self, openings).write(data)
        except (ValueError, IndexError):
            if not openings:
                raise
            return Written(Mode.OUTSIDE)  # other text that looks like an opening


class _Writer:
    def __init__(self, before: Written, openings: Openings) -> None:
        self._mode, levels, self._text, self._word, self._escapes, self._root = before
        self._levels = list(levels)
        self._recorded = sum(level.begin >= 0 for level in levels)
        self._openings = openings
        self._is_repeated = False

    def write(self, data: bytes) -> Written | None:
        place = 0
        while place < len(data):
            match self._mode:
                case Mode.STRING | Mode.KEY:
                    place = self._string(data, place)
                case Mode.WORD:
                    place = self._rest_of_word(data, place)
                case Mode.OUTSIDE:
                    place = self._outside(data, place)
                case _:
                    self._sign(data[place : place + 1])
                    place += 1
            if self._is_repeated:
                return None
        return Written(self._mode, tuple(self._levels), self._text, self._word, self._escapes, self._root)

    def _outside(self, data: bytes, place: int) -> int:
        for end in range(place + 1, len(data) + 1):
            text = self._word + data[place:end]
            for opening, root in self._openings:
                if text.endswith(opening):
                    self._mode, self._word, self._root = Mode.VALUE, b"", root
                    return end
        longest = max(len(opening) for opening, _ in self._openings)
        self._word = (self._word + data[place:])[-longest:]
        return len(data)

    def _string(self, data: bytes, place: int) -> int:
        if self._escapes:
            self._escapes = False
            self._add(data[place : place + 1])
            return place + 1
        found = _PLAIN.match(data, place)
        end = found.end() if found else place
        self._add(data[place : end + 1])
        if data[end : end + 1] == b"\\":
            self._escapes = True
        elif end < len(data):
            if self._mode is Mode.KEY:
                self._mode = Mode.BETWEEN
            else:
                self._value_ends()
        return end + 1

    def _add(self, data: bytes) -> None:
        if self._recorded:
            self._text += data
        if self._mode is Mode.KEY and self._levels[-1].place is not None:
            self._levels[-1] = self._levels[-1]._replace(key=self._levels[-1].key + data)

    def _rest_of_word(self, data: bytes, place: int) -> int:
        found = _WORD.match(data, place)
        end = found.end() if found else place
        self._word += data[place:end]
        self._add(data[place:end])
        if end < len(data) or self._word in _LITERALS:
            self._word = b""
            self._value_ends()
        return end

    def _sign(self, sign: bytes) -> None:
        if sign[0] in _BLANK:
            return
        match sign:
            case b'"':
                is_key = self._mode is Mode.BETWEEN
                self._mode = Mode.KEY if is_key else Mode.STRING
                if is_key:
                    self._levels[-1] = self._levels[-1]._replace(key=b"")
                self._add(sign)
            case b"{" | b"[":
                self._open(sign == b"[")
            case b"}" | b"]":
                level = self._levels.pop()
                self._recorded -= level.begin >= 0
                self._add(sign)
                self._value_ends()
            case b",":
                self._add(sign)
                self._next()
            case b":":
                self._add(sign)
                self._mode = Mode.VALUE
            case _:
                self._mode, self._word = Mode.WORD, sign
                self._add(sign)

    def _open(self, is_array: bool) -> None:
        place = self._place_of_value()
        self._add(b"[" if is_array else b"{")
        if is_array and place is not None and place.unique:
            self._recorded += 1
            self._levels.append(Level(True, place, begin=len(self._text)))
        else:
            self._levels.append(Level(is_array, place))
        self._mode = Mode.VALUE if is_array else Mode.BETWEEN

    def _place_of_value(self) -> Place | None:
        if not self._levels:
            return self._root
        level = self._levels[-1]
        if level.place is None:
            return None
        return level.place.item(level.number) if level.is_array else level.place.property(json.loads(level.key))

    def _next(self) -> None:
        level = self._levels[-1]
        self._mode = Mode.VALUE if level.is_array else Mode.BETWEEN
        if level.is_array:
            if self._recorded == (level.begin >= 0):
                self._text = b""
            begin = len(self._text) if level.begin >= 0 else -1
            self._levels[-1] = level._replace(number=level.number + 1, begin=begin)

    def _value_ends(self) -> None:
        self._mode = Mode.BETWEEN
        level = self._levels[-1] if self._levels else None
        if level is None and self._openings:
            self._mode = Mode.OUTSIDE
        if level is None or level.begin < 0:
            if not self._recorded:
                self._text = b""
            return
        item = self._text[level.begin :]
        key = key_of(item)
        self._is_repeated = key in level.keys
        self._levels[-1] = level._replace(items=(*level.items, item), keys=level.keys | {key})


def key_of(item: bytes) -> Any:
    """What equal values have in common, of one written without blanks."""
    if item[:1] in (b'"', b"t", b"f", b"n"):
        return item
    return _key(json.loads(item, parse_float=_number, parse_int=_number))


class _Number(NamedTuple):
    """A decimal number, with no zeros at its end."""

    is_negative: bool
    digits: str
    exponent: int


def _number(text: str) -> _Number:
    mantissa, _, exponent = text.lower().partition("e")
    whole, _, fraction = mantissa.lstrip("-").partition(".")
    digits = (whole + fraction).lstrip("0")
    plain = digits.rstrip("0")
    if not plain:
        return _Number(False, "", 0)
    power = int(exponent[:_DIGITS] or 0) - len(fraction) + len(digits) - len(plain)
    return _Number(text.startswith("-"), plain, power)


def _key(value: Any) -> Any:
    if isinstance(value, dict):
        return frozenset((name, _key(inner)) for name, inner in cast("dict[str, Any]", value).items())
    if isinstance(value, list):
        return "items", *(_key(inner) for inner in cast("list[Any]", value))
    return value if isinstance(value, _Number) else (value,)
