"""Reads patterns of JavaScript, as JSON Schema has them, where each part stands for the same texts everywhere."""

import re
from dataclasses import dataclass
from functools import reduce

from pie_mlx.engine.text.grammar.json_schema.patterns.letters import ALL, Letters, others, union

MOST_LEVELS = 40
MOST_LETTERS = 1_000
"""The most letters of a pattern, with repeated ones counted each time."""


class UnknownPatternError(Exception):
    """A pattern with a part that is not read here, or that is too large."""


@dataclass(frozen=True, slots=True)
class Letter:
    """One of some characters."""

    letters: Letters


@dataclass(frozen=True, slots=True)
class Sequence:
    """One part after the other."""

    parts: "tuple[Node, ...]"


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several parts."""

    parts: "tuple[Node, ...]"


@dataclass(frozen=True, slots=True)
class Repeat:
    """A part `least` times or more, at most `most` times unless that is None."""

    part: "Node"
    least: int
    most: int | None


@dataclass(frozen=True, slots=True)
class Ahead:
    """Nothing, in front of a text that begins as a part does; or, `refused`, of any other."""

    part: "Node"
    refused: bool


@dataclass(frozen=True, slots=True)
class Edge:
    """The beginning or the end of the text."""

    begins: bool


Node = Letter | Sequence | Choice | Repeat | Ahead | Edge

_DIGITS: Letters = ((0x30, 0x39),)
_WORD: Letters = ((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A))
_SPACE: Letters = (
    (9, 13), (0x20, 0x20), (0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A), (0x2028, 0x2029), (0x202F, 0x202F),
    (0x205F, 0x205F), (0x3000, 0x3000), (0xFEFF, 0xFEFF),
)  # fmt: skip
_BREAKS: Letters = ((10, 10), (13, 13), (0x2028, 0x2029))
_SETS = {"d": _DIGITS, "w": _WORD, "s": _SPACE}
_CONTROLS = {"t": 9, "n": 10, "v": 11, "f": 12, "r": 13, "0": 0}
_CODE = re.compile(r"x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|[ux]\{([0-9a-fA-F]{1,6})\}")
_GROUP = re.compile(r"\?(?::|=|!|s:|<[A-Za-z_$][\w$]*>)")
_COUNT = re.compile(r"(\*|\+|\?|\{(\d{1,4})(,(\d{0,4}))?\})\??")
_COUNTS = {"*": (0, None), "+": (1, None), "?": (0, 1)}


def read_pattern(pattern: str) -> Node:
    """Raises UnknownPatternError, also for back-references, boundaries of words and look-behind. The syntax of engines
    for characters (`\\x{2f}`, `(?s:.)`) is read as well."""
    return _Reader(pattern).read()


class _Reader:
    def __init__(self, pattern: str) -> None:
        self._pattern, self._at, self._levels = pattern, 0, 0
        self._any = others(_BREAKS)

    def read(self) -> Node:
        found = self._choice()
        if self._at < len(self._pattern) or _size(found) > MOST_LETTERS:
            raise UnknownPatternError
        return found

    def _next(self) -> str:
        return self._pattern[self._at : self._at + 1]

    def _take(self) -> str:
        letter = self._next()
        if not letter:
            raise UnknownPatternError
        self._at += 1
        return letter

    def _choice(self) -> Node:
        self._levels += 1
        if self._levels > MOST_LEVELS:
            raise UnknownPatternError
        parts = [self._sequence()]
        while self._next() == "|":
            self._at += 1
            parts.append(self._sequence())
        self._levels -= 1
        return parts[0] if len(parts) == 1 else Choice(tuple(parts))

    def _sequence(self) -> Node:
        parts: list[Node] = []
        while self._next() not in ("", "|", ")"):
            parts.append(self._counted(self._atom()))
        return parts[0] if len(parts) == 1 else Sequence(tuple(parts))

    def _counted(self, part: Node) -> Node:
        found = _COUNT.match(self._pattern, self._at)
        if found is None:
            return part
        self._at = found.end()
        if isinstance(part, Ahead | Edge) or _COUNT.match(self._pattern, self._at):
            raise UnknownPatternError
        if found[1] in _COUNTS:
            return Repeat(part, *_COUNTS[found[1]])
        least = int(found[2])
        return Repeat(part, least, (int(found[4]) if found[4] else None) if found[3] else least)

    def _atom(self) -> Node:
        match self._take():
            case "(":
                return self._group()
            case "[":
                return Letter(self._class())
            case ".":
                return Letter(self._any)
            case "^" | "$" as edge:
                return Edge(edge == "^")
            case "\\":
                return Letter(self._escaped())
            case "*" | "+" | "?":
                raise UnknownPatternError
            case letter:
                return Letter(_one(ord(letter)))

    def _group(self) -> Node:
        kind = _GROUP.match(self._pattern, self._at)
        if kind is None and self._next() == "?":
            raise UnknownPatternError
        self._at = kind.end() if kind else self._at
        before, self._any = self._any, ALL if kind and kind[0] == "?s:" else self._any
        part = self._choice()
        self._any = before
        if self._take() != ")":
            raise UnknownPatternError
        return Ahead(part, kind[0] == "?!") if kind and kind[0] in ("?=", "?!") else part

    def _escaped(self, *, in_class: bool = False) -> Letters:
        code = _CODE.match(self._pattern, self._at)
        if code is not None:
            self._at = code.end()
            return _one(int(code[1] or code[2] or code[3], 16))
        letter = self._take()
        if letter.lower() in _SETS:
            return _SETS[letter] if letter.islower() else others(_SETS[letter.lower()])
        if letter == "b" and in_class:
            return _one(8)
        if letter == "0" and self._next().isdigit():
            raise UnknownPatternError
        if letter in _CONTROLS:
            return _one(_CONTROLS[letter])
        if letter.isalnum():
            raise UnknownPatternError
        return _one(ord(letter))

    def _class(self) -> Letters:
        is_other = self._next() == "^"
        self._at += is_other
        if self._next() == "]":  # nothing in JavaScript, a bracket elsewhere
            raise UnknownPatternError
        found: list[Letters] = []
        while (first := self._member()) is not None:
            if self._next() != "-" or self._pattern[self._at + 1 : self._at + 2] == "]":
                found.append(first)
                continue
            self._at += 1
            last = self._member()
            found.append(_range(first, last))
        letters = reduce(union, found, ())
        return others(letters) if is_other else letters

    def _member(self) -> Letters | None:
        """The next character or set of a class; None at its end."""
        letter = self._take()
        if letter == "]":
            return None
        return self._escaped(in_class=True) if letter == "\\" else _one(ord(letter))


def _size(node: Node) -> int:
    match node:
        case Sequence(parts) | Choice(parts):
            return 1 + sum(map(_size, parts))
        case Repeat(part, least, most):
            return _size(part) * max(least + 1, most or 0)
        case Ahead(part):
            return _size(part)
        case _:
            return 1


def _one(code: int) -> Letters:
    letters = union(((code, code),))
    if not letters:
        raise UnknownPatternError
    return letters


def _range(first: Letters, last: Letters | None) -> Letters:
    if last is None or len(first) != 1 or len(last) != 1 or first[0][0] != first[0][1] or last[0][0] != last[0][1]:
        raise UnknownPatternError
    if first[0][0] > last[0][0]:
        raise UnknownPatternError
    return union(((first[0][0], last[0][0]),))
