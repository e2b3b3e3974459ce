"""Text without quotes as values of a schema: terminals in Lark for what a reader takes for such a value.

A reader takes text for JSON where the schema allows values of that kind beside strings, and else for the text itself.
"""

import json
import re
from typing import Any, cast

import llguidance

from pie_mlx.engine.text.grammar.json_schema.formats import TEXT_PATTERNS
from pie_mlx.engine.text.grammar.json_schema.schema import Schema, step
from pie_mlx.engine.text.json_pointer import referred
from pie_mlx.engine.text.value_kinds import TEXT_ALONE, kinds_of, value_kinds

ANY = "/(?s:.*)/"
NOTHING = f"(~{ANY})"
_SPACE = r"[ \t\n\r]*"
_NUMBERS = frozenset({"integer", "number"})
_NESTED = frozenset({"array", "object"})
_INTEGER = "-?(?:0|[1-9][0-9]*)"
_NUMBER = rf"{_INTEGER}(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"
_LIKE = {
    "null": f"{_SPACE}null{_SPACE}",
    "boolean": f"{_SPACE}(?:true|false){_SPACE}",
    "integer": f"{_SPACE}{_NUMBER}{_SPACE}",
    "number": f"{_SPACE}{_NUMBER}{_SPACE}",
    "array": rf"{_SPACE}\[(?s:.*)",
    "object": rf"{_SPACE}\{{(?s:.*)",
}
"""What a reader may take for JSON of a kind."""
_HELD = "-?(?:0|[1-9][0-9]{0,199})"
_LARGE = r"-?[1-9](?:\.[0-9]+)?[eE]\+?(?:[12][0-9]{2}|30[0-7])"
_WRITTEN = {
    "null": "null",
    "boolean": "true|false",
    "integer": _HELD,
    "number": rf"{_HELD}(?:\.[0-9]+)?(?:[eE](?:\+?[0-9]{{1,2}}|-[0-9]{{1,3}}))?|{_LARGE}",
}
"""What is written for a kind: of numbers those that floating-point ones hold."""
_OF_NUMBERS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
_FLAGS_OR_LOOKS = re.compile(r"\(\?(?!:)")
MAXIMUM_REFERENCES = 20


class RawText:
    """The texts of one parameter. `unenforced` collects the places of what they cannot be held to.

    Of `oneOf` the engine has seen to it that no value fits two.
    """

    def __init__(self, schema: Schema, root: Schema, path: str) -> None:
        self.kinds = kinds_of(schema, root)
        self.unenforced: list[str] = []
        self._root = root
        self._are_numbers_bound = False
        likes = sorted(f"~/{_slashes(_LIKE[kind])}/" for kind in self.kinds - {"string"})
        self._string = f"({' & '.join([ANY, *likes])})"
        self._conditions = self._all(schema, path, 0)

    @property
    def json_kinds(self) -> frozenset[str]:
        """The kinds of values that are written as JSON, since no terminal can be held to them. Numbers cannot be where
        strings begin like them."""
        has_numbers = self._are_numbers_bound and "string" not in self.kinds
        return self.kinds & (_NESTED | _NUMBERS if has_numbers else _NESTED)

    @property
    def is_needed(self) -> bool:
        """Whether JSON will not do: for strings, and for numbers of any size."""
        return bool((self.kinds - self.json_kinds) & {"string", *_NUMBERS})

    @property
    def terminal(self) -> str:
        """For the values of all other kinds."""
        kinds = sorted(self.kinds - self.json_kinds)
        return f"({' | '.join(map(self._kind, kinds))}) & {self._conditions}"

    def _kind(self, kind: str) -> str:
        if kind == "number" and kind not in self.kinds:
            kind = "integer"
        if kind not in self.kinds:
            return NOTHING  # its text is read as a string
        if kind == "string":
            return self._string
        return f"/{_slashes(_WRITTEN[kind])}/" if kind in _WRITTEN else NOTHING

    def _all(self, schema: object, path: str, references: int) -> str:
        """What all of the schema's keywords allow together."""
        if not isinstance(schema, dict):
            return NOTHING if schema is False else ANY
        fields = cast("Schema", schema)
        if references > MAXIMUM_REFERENCES:
            self.unenforced.append(step(path, "$ref"))
            return ANY
        conditions = [
            self._condition(keyword, value, step(path, keyword), references) for keyword, value in fields.items()
        ]
        return f"({' & '.join([ANY, *filter(None, conditions)])})"

    def _condition(self, keyword: str, value: Any, path: str, references: int) -> str:
        match keyword:
            case "type":
                names: list[str] = [value] if isinstance(value, str) else value
                return f"({' | '.join(map(self._kind, names))})"
            case "const" | "enum":
                return self._constants([value] if keyword == "const" else value)
            case "pattern" | "format" | "minLength" | "maxLength":
                return self._or_no_string(self._text_condition(keyword, value, path))
            case "$ref":
                return self._all(referred(value, self._root), path, references + 1)
            case "allOf" | "anyOf" | "oneOf":
                parts = [self._all(part, step(path, i), references) for i, part in enumerate(value)]
                return f"({(' & ' if keyword == 'allOf' else ' | ').join(parts)})"
            case _:
                if keyword in _OF_NUMBERS and self.kinds & _NUMBERS:
                    self._are_numbers_bound = True
                    self.unenforced += [path] if "string" in self.kinds else []
                return ""

    def _constants(self, values: list[Any]) -> str:
        plain = [value for value in values if value_kinds(value) & self.kinds - _NESTED]
        plain += [int(value) for value in plain if isinstance(value, float) and value.is_integer()]
        texts = [json.dumps(value) for value in plain]
        found = [f"({text} & {self._string})" if text.startswith('"') else json.dumps(text) for text in texts]
        return f"({' | '.join(found)})" if found else NOTHING

    def _or_no_string(self, condition: str) -> str:
        return f"({condition} | ~{self._string})" if self.kinds != TEXT_ALONE else condition

    def _text_condition(self, keyword: str, value: Any, path: str) -> str:
        match keyword:
            case "minLength":
                return f"/(?s:.{{{int(value)},}})/"
            case "maxLength":
                return f"/(?s:.{{0,{int(value)}}})/"
            case "format":
                found = TEXT_PATTERNS.get(value)
            case _:
                found = found_in_text(value)
        if found is None:
            self.unenforced.append(path)
            return ANY
        return f"/{llguidance.regex_to_lark(found, 'dw')}/"


def _slashes(pattern: str) -> str:
    return llguidance.regex_to_lark(pattern, "")


def found_in_text(pattern: str) -> str | None:
    """A regular expression for all of a text in which `pattern` is found; None where that is hard to tell.

    Engines take a `^` or `$` for nothing, wherever it stands.
    """
    if _FLAGS_OR_LOOKS.search(pattern):
        return None
    found: list[str] = []
    for choice in _choices(pattern):
        begins, ends = choice[:1] == ["^"], choice[-1:] == ["$"]
        middle = choice[begins : len(choice) - ends]
        if "^" in middle or "$" in middle:
            return None
        found.append(f"{'' if begins else '(?s:.*)'}(?:{''.join(middle)}){'' if ends else '(?s:.*)'}")
    return "|".join(found)


_PIECE = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|.", re.DOTALL)


def _choices(pattern: str) -> list[list[str]]:
    """The alternatives of a pattern, each in its pieces: a character, an escaped one, or a class of them."""
    found: list[list[str]] = [[]]
    depth = 0
    for piece in _PIECE.findall(pattern):
        depth += (piece == "(") - (piece == ")")
        if piece == "|" and depth == 0:
            found.append([])
        else:
            found[-1].append(piece)
    return found
