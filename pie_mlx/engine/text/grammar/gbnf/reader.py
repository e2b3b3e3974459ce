"""Reads GBNF: llama.cpp's notation, but a rule may go on in the next line, as others allow."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pie_mlx.engine.text.grammar.gbnf.nodes import Chars, Choice, Node, Reference, Repeat, Sequence
from pie_mlx.errors import GrammarError

MAXIMUM_NESTING = 100
_SHALLOW = 5
"""Brackets inside one another that stay in a rule; llguidance takes about thirty of its own."""
_TOKEN = re.compile(
    r"""(?P<space>(?:\s|\#[^\n]*)+)|(?P<text>"(?:\\.|[^"\\])*")|(?P<chars>\[(?:\\.|[^\]\\])*\])|(?P<is>::=)"""
    r"""|(?P<times>[*+?]|\{\s*\d{1,6}\s*(?:,\s*\d{0,6}\s*)?\})|(?P<mark>[|().])|(?P<name>[A-Za-z0-9_-]+)""",
    re.DOTALL,
)
_CHARACTER = re.compile(
    r"""\\x(?P<x>[0-9a-fA-F]{2})|\\u(?P<u>[0-9a-fA-F]{4})|\\U(?P<U>[0-9a-fA-F]{8})"""
    r"""|\\(?P<escaped>[nrt]|[^\w\s])|(?P<plain>[^\\])""",
    re.DOTALL,
)
_CONTROLS = {"n": "\n", "r": "\r", "t": "\t"}
_ANY = "(?s:.)"
_TIMES = {"*": (0, None), "+": (1, None), "?": (0, 1)}


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    offset: int


def read_gbnf(source: str, root: str = "root") -> dict[str, Node]:
    """The rules by name, all those that they name among them, and `root`. Raises GrammarError with line and column."""
    found = _Reader(source).rules()
    if root not in found:
        raise GrammarError(f"grammar: no rule is called {root}", hint=f"name the rule to begin with {root}")
    return found


class _Reader:
    def __init__(self, source: str) -> None:
        self._source = source
        self._tokens = [*self._split(), _Token("end", "the end", len(source))]
        self._next = 0
        self._found: dict[str, Node] = {}
        self._named: dict[str, int] = {}
        self._depth = 0

    def rules(self) -> dict[str, Node]:
        found = self._found
        while self._peek().kind != "end":
            name = self._take("name", "the name of a rule")
            self._take("is", "::=")
            if name.text in found:
                raise self._error(name.offset, f"rule {name.text} is there already")
            found[name.text] = self._choice()
            if self._peek().kind not in ("name", "end"):
                raise self._expected("the name of a rule")
        for name, offset in self._named.items():
            if name not in found:
                raise self._error(offset, f"rule {name} is not defined")
        return found

    def _split(self) -> Iterator[_Token]:
        offset = 0
        while offset < len(self._source):
            found = _TOKEN.match(self._source, offset)
            if found is None:
                raise self._error(offset, f"{self._source[offset]} begins nothing that is known here, or has no end")
            if found.lastgroup and found.lastgroup != "space":
                yield _Token(found.lastgroup, found[0], offset)
            offset = found.end()

    def _choice(self) -> Node:
        options = [self._sequence()]
        while self._peek().text == "|":
            self._next += 1
            options.append(self._sequence())
        return options[0] if len(options) == 1 else Choice(tuple(options))

    def _sequence(self) -> Node:
        parts: list[Node] = []
        while (part := self._element()) is not None:
            parts.append(self._repeated(part, self._advance()) if self._peek().kind == "times" else part)
        return parts[0] if len(parts) == 1 else Sequence(tuple(parts))

    def _element(self) -> Node | None:
        """None where no element begins."""
        token = self._peek()
        match token.kind:
            case "text":
                self._next += 1
                return Sequence(tuple(Chars(_pattern(character)) for character, _ in self._characters(token)))
            case "chars":
                self._next += 1
                return Chars(self._class(token))
            case "name" if self._tokens[self._next + 1].kind != "is":
                self._next += 1
                self._named.setdefault(token.text, token.offset)
                return Reference(token.text)
            case "mark" if token.text == ".":
                self._next += 1
                return Chars(_ANY)
            case "mark" if token.text == "(":
                return self._group()
            case _:
                return None

    def _group(self) -> Node:
        opening = self._advance()
        self._depth += 1
        if self._depth > MAXIMUM_NESTING:
            raise self._error(opening.offset, f"more than {MAXIMUM_NESTING} brackets are open")
        inner = self._choice()
        if self._peek().text != ")":
            raise self._expected(")")
        self._next += 1
        self._depth -= 1
        if self._depth % _SHALLOW:
            return inner
        name = f"({opening.offset}"  # no user can write this name
        self._found[name] = inner
        return Reference(name)

    def _repeated(self, part: Node, token: _Token) -> Node:
        if token.text in _TIMES:
            return Repeat(part, *_TIMES[token.text])
        least, comma, most = token.text[1:-1].partition(",")
        bounds = int(least), (int(most) if most.strip() else None) if comma else int(least)
        if bounds[1] is not None and bounds[0] > bounds[1]:
            raise self._error(token.offset, f"{token.text} ends before it begins")
        return Repeat(part, *bounds)

    def _class(self, token: _Token) -> str:
        """A regular expression for one character of it."""
        characters = self._characters(token)
        negated = token.text.startswith("[^")
        items: list[str] = []
        place = int(negated)
        while place < len(characters):
            first = last = characters[place][0]
            if place + 2 < len(characters) and characters[place + 1] == ("-", False):
                last = characters[place + 2][0]
                place += 2
            if first > last:
                raise self._error(token.offset, f"a range in {token.text} ends before it begins")
            items.append(_pattern(first) if first == last else f"{_pattern(first)}-{_pattern(last)}")
            place += 1
        if not items and not negated:
            raise self._error(token.offset, "[] is no character")
        return f"[{'^' * negated}{''.join(items)}]" if items else _ANY

    def _characters(self, token: _Token) -> list[tuple[str, bool]]:
        """What stands between the delimiters: characters, and whether each is written with a backslash."""
        found: list[tuple[str, bool]] = []
        offset, end = 1, len(token.text) - 1
        while offset < end:
            match = _CHARACTER.match(token.text, offset, end)
            if match is None:
                raise self._error(token.offset + offset, f"{token.text[offset : offset + 2]} is no character")
            found.append((self._character(match, token), match[0][0] == "\\"))
            offset = match.end()
        return found

    def _character(self, match: re.Match[str], token: _Token) -> str:
        digits = match["x"] or match["u"] or match["U"]
        if digits is None:
            return _CONTROLS.get(match["escaped"], match["escaped"]) or match["plain"]
        code = int(digits, 16)
        if code > 0x10FFFF or 0xD800 <= code < 0xE000:
            raise self._error(token.offset + match.start(), f"{match[0]} is no character")
        return chr(code)

    def _peek(self) -> _Token:
        return self._tokens[self._next]

    def _advance(self) -> _Token:
        self._next += 1
        return self._tokens[self._next - 1]

    def _take(self, kind: str, what: str) -> _Token:
        if self._peek().kind != kind:
            raise self._expected(what)
        return self._advance()

    def _expected(self, what: str) -> GrammarError:
        return self._error(self._peek().offset, f"expected {what}, found {self._peek().text}")

    def _error(self, offset: int, problem: str) -> GrammarError:
        line = self._source.count("\n", 0, offset) + 1
        column = offset - self._source.rfind("\n", 0, offset)
        return GrammarError(f"grammar: line {line}, column {column}: {problem}", hint="correct the grammar")


def _pattern(character: str) -> str:
    """A regular expression for it, in or out of a class, without slashes and spaces."""
    return character if character.isascii() and character.isalnum() else f"\\x{{{ord(character):x}}}"
