"""Grammars of the engine double: finite sets of texts.

A regular expression is a choice of plain texts (`yes|no`), an EBNF source likewise; of JSON there are a few values,
and of a JSON Schema all values it allows over tiny domains.
"""

import itertools
import json
from dataclasses import dataclass, field
from typing import Any

from pie_mlx import calls
from pie_mlx.errors import GrammarError, GrammarRejectedError
from tests.inferlet.toy_language import STOPS, VOCABULARY, decode

DOMAINS: dict[str, list[Any]] = {"integer": list(range(10)), "string": ["a", "b"], "boolean": [False, True]}


def texts_of(source: calls.GrammarSource) -> list[str]:
    match source.kind:
        case "json":
            return ["[]", "true", '{"a":1}']
        case "json_schema":
            schema = json.loads(source.text)
            return [json.dumps(value, separators=(",", ":")) for value in _values(schema, schema)]
        case "regex" | "ebnf":
            if "(" in source.text:
                raise GrammarError(f"{source.kind}: unbalanced", hint="close it")
            return source.text.split("|")
        case "tools":
            return ["<call>"]


def _values(schema: dict[str, Any], root: dict[str, Any]) -> list[Any]:
    if "$ref" in schema:
        return _values(root["$defs"][schema["$ref"].rsplit("/", 1)[1]], root)
    if "enum" in schema:
        return schema["enum"]
    if schema["type"] != "object":
        return DOMAINS[schema["type"]]
    names = list(schema["properties"])
    columns = [_values(schema["properties"][name], root) for name in names]
    return [dict(zip(names, row, strict=True)) for row in itertools.product(*columns)]


@dataclass
class ToyMatcher:
    """Walks a set of texts. `fed` are the tokens so far; `ended` once a stop token was fed."""

    texts: list[str]
    stops: list[int]
    fed: list[int] = field(default_factory=list)

    @property
    def ended(self) -> bool:
        return bool(self.fed) and self.fed[-1] in self.stops

    @property
    def complete(self) -> bool:
        return self.ended or decode(self.fed) in self.texts

    def allowed(self) -> set[int]:
        if self.ended:
            return set()
        said = decode(self.fed)
        ongoing = [text for text in self.texts if text.startswith(said) and text != said]
        following = {token for token in range(VOCABULARY) if any(t.startswith(said + decode([token])) for t in ongoing)}
        return following | (set(self.stops) if self.complete else set())

    def feed(self, tokens: list[int]) -> None:
        before = list(self.fed)
        for token in tokens:
            if token not in self.allowed():
                self.fed = before
                raise GrammarRejectedError(f"grammar: token {token} is not allowed")
            self.fed.append(token)

    def state(self, number: int) -> calls.MatcherState:
        terminated = self.ended or self.allowed() <= set(self.stops)
        return calls.MatcherState(number, self.complete, terminated)


def fresh_matcher(source: calls.GrammarSource, stops: list[int]) -> ToyMatcher:
    return ToyMatcher(texts_of(source), stops or list(STOPS))
