"""Grammars of calls with tagged parameters. Strings stand there without quotes, other values as JSON."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from pie_mlx.engine.text.grammar.json_schema.locate import keyword_paths
from pie_mlx.engine.text.grammar.json_schema.schema import Schema, step, subschemas
from pie_mlx.engine.text.grammar.llguidance_engine import ONE_SPELLING, LlguidanceEngine
from pie_mlx.engine.text.grammar.tool_calls.raw_text import MAXIMUM_REFERENCES, RawText
from pie_mlx.engine.text.grammar.tool_calls.tagless import spelled_tags, tagless_pattern, without_tags
from pie_mlx.engine.text.grammar.unique_items.places import without_unique_items
from pie_mlx.engine.text.json_pointer import referred
from pie_mlx.engine.text.tools.call_tags import BREAK, CallTags
from pie_mlx.engine.text.value_kinds import kinds_of, value_kinds

_BRANCHES = frozenset({"allOf", "anyOf", "oneOf"})
_OF_ARGUMENTS = frozenset(
    {"type", "properties", "required", "$defs", "definitions", "$schema", "$id", "$comment", "title", "description",
     "default", "examples", "deprecated", "strict"}
)  # fmt: skip
_ANNOTATIONS = frozenset({"title", "description", "default", "examples", "deprecated", "$comment"})
_NO_FORCING = '%llguidance {"no_forcing": true}'
"""The engine panics where a tag that is one token is all that may follow a text of the greatest length."""
_PYTHON = {"boolean": '"True" | "False"', "null": '"None"'}
"""As templates write them that know nothing of JSON."""


def json_text(schema: Schema) -> str:
    """A schema inside Lark. Arguments are written compactly or with single spaces, as templates write them."""
    plain = without_unique_items(schema)
    spelling = {} if plain == schema else ONE_SPELLING
    return json.dumps({**plain, "x-guidance": {"whitespace_pattern": " ", **spelling}})


class TaggedCalls:
    """Lark grammars for tool calls with tagged parameters.

    `spell` gives the parts of a text in Lark: strings, and tokens by number.
    """

    def __init__(self, tags: CallTags, spell: Callable[[str], list[str]], engine: LlguidanceEngine) -> None:
        self._tags = tags
        self._spell = spell
        self._engine = engine
        ends = (tags.parameter_end, tags.call_end, tags.block_end)
        self._closings = [end.replace(BREAK, "").strip() for end in ends if end]
        self._free = f"/{tagless_pattern(self._closings).replace('/', chr(92) + '/')}/"

    def lark(self, arguments: Mapping[str, Schema], separator: str) -> str:
        """Any number of blocks, at least one, each of any of the tools."""
        tags = self._tags
        calls = " | ".join(f"call_{i}" for i in range(len(arguments)))
        lines = [
            _NO_FORCING,
            f"start: block ({self._text(separator)} block)*",
            f"block: {self._text(tags.block)} ({calls}){'+' if tags.many else ''} {self._text(tags.block_end)}",
        ]
        for i, (name, schema) in enumerate(arguments.items()):
            lines += self._call(f"{i}", name, schema)
        return "\n".join(lines) + "\n"

    def refused(self, schema: Schema) -> list[tuple[str, str]]:
        """Place and reason of what tagged calls cannot be held to."""
        places = [step("$", key) for key in schema if key not in _OF_ARGUMENTS and not _is_kept(key, schema)]
        properties = _properties(schema)
        places += [step("$", "required") for name in schema.get("required", []) if name not in properties]
        places += [place for place in keyword_paths(schema, "$id") if place != "$.$id"] + _strange_references(schema)
        found = [(place, "is not enforceable in tagged calls") for place in places]
        for key, inner in properties.items():
            path = step("$.properties", key)
            found += [] if self._is_key(key) else [(path, "has a name that tags do not take")]
            found += self._refused_value(inner, schema, path)
        return found

    def _refused_value(self, schema: Any, root: Schema, path: str) -> list[tuple[str, str]]:
        raw = RawText(schema, root, path)
        places = list(raw.unenforced) if raw.is_needed else []
        inner = _json_part(schema, root, raw)
        if inner is not None:
            places += spelled_tags(inner, self._closings, path)
            places += [place for place, one in _definitions(root) for place in spelled_tags(one, self._closings, place)]
        if places:
            return [(place, "is not enforceable in tagged calls") for place in dict.fromkeys(places)]
        reasons: list[str] = []
        if raw.is_needed and not _is_plain(schema):
            reasons.append(self._engine.lark_error(f"start: RAW\nRAW: {self._raw(raw)}\n"))
        reasons += [self._engine.schema_error(self._whole(inner, root))] if inner is not None else []
        return [(path, f"is not enforceable in tagged calls: {_in_words(reason)}") for reason in reasons if reason]

    def _raw(self, raw: RawText) -> str:
        return f"({self._free} & {raw.terminal})"

    def _call(self, number: str, name: str, schema: Schema) -> list[str]:
        tags = self._tags
        required = schema.get("required", [])
        parameters = [
            f"parameter_{number}_{i}{'' if key in required else '?'}" for i, key in enumerate(_properties(schema))
        ]
        call = [self._text(tags.call.format(name=name)), *parameters, self._text(tags.call_end)]
        lines = [f"call_{number}: {' '.join(call)}"]
        for i, (key, inner) in enumerate(_properties(schema).items()):
            lines.append(f"parameter_{number}_{i}: {self._text(tags.parameter.format(key=key))} value_{number}_{i}")
            lines += self._value(f"{number}_{i}", inner, schema)
        return lines

    def _value(self, number: str, schema: Any, root: Schema) -> list[str]:
        """The rule of a value and what ends it. Terminals are greedy: raw text has the text of its end inside."""
        raw = RawText(schema, root, "$")
        choices: list[str] = []
        lines: list[str] = []
        end = self._spell(self._tags.parameter_end)
        if raw.is_needed:
            head, rest = (end[0], end[1:]) if end[0].startswith('"') else ("", end)
            lines.append(f"RAW_{number}: {self._raw(raw)} {head}")
            choices.append(" ".join([f"RAW_{number}", *rest]))
        if "string" not in raw.kinds and _is_plain(schema):
            choices += [f"({_PYTHON[kind]}) {' '.join(end)}" for kind in sorted(_PYTHON.keys() & raw.kinds)]
        inner = _json_part(schema, root, raw)
        if inner is not None:
            lines.append(f"json_{number}: %json {json_text(self._whole(inner, root))}")
            choices.append(f"json_{number} {' '.join(end)}")
        return [f"value_{number}: {' | '.join(choices)}", *lines]

    def _whole(self, schema: Schema, root: Schema) -> Schema:
        definitions = {key: root[key] for key in ("$defs", "definitions") if key in root}
        return without_tags({**definitions, **schema}, self._closings)

    def _text(self, text: str) -> str:
        return " ".join(self._spell(text))

    def _is_key(self, key: str) -> bool:
        return bool(key) and key == key.strip() and not set(key) & {*'<>"{}\n', BREAK}


def _is_plain(schema: Any) -> bool:
    """Whether it restricts only the type."""
    return isinstance(schema, dict) and cast("Schema", schema).keys() - _ANNOTATIONS == {"type"}


def _in_words(reason: str) -> str:
    open_twice = "several of its parts leave the same value open, which additionalProperties or items can close"
    return open_twice if "intersection stack level" in reason else reason


def _properties(schema: Schema) -> Schema:
    return cast("Schema", schema.get("properties", {}))


def _is_kept(keyword: str, schema: Schema) -> bool:
    """Whether `additionalProperties` can be ignored: it is false, or parameters are declared."""
    return keyword == "additionalProperties" and (schema[keyword] is False or bool(_properties(schema)))


def _json_part(schema: Any, root: Schema, raw: RawText) -> Schema | None:
    """The schema of the values that are written as JSON; None without any."""
    if raw.is_needed:
        return _only(raw.json_kinds, schema, root, MAXIMUM_REFERENCES) if raw.json_kinds else None
    return cast("Schema", schema) if isinstance(schema, dict) else {"not": {}}


def _only(kinds: frozenset[str], schema: Any, root: Schema, references: int) -> Schema:
    """The schema of those values that are of these kinds."""
    if not isinstance(schema, dict):
        return {"type": sorted(kinds)}
    fields = dict(cast("Schema", schema))
    if "$ref" in fields and references:
        target = _only(kinds, referred(fields.pop("$ref"), root), root, references - 1)
        fields = {**fields, "allOf": [*fields.get("allOf", []), target]} if fields.keys() - _ANNOTATIONS else target
    for keyword in _BRANCHES & fields.keys():
        parts = [part for part in fields[keyword] if kinds_of(part, root) & kinds]
        fields[keyword] = [_only(kinds, part, root, references) for part in parts]
    if "enum" in fields:
        fields["enum"] = [value for value in fields["enum"] if value_kinds(value) & kinds]
    if "type" in fields or not (_BRANCHES | {"$ref"}) & fields.keys():
        names = fields.get("type", sorted(kinds))
        fields["type"] = sorted(kinds.intersection([names] if isinstance(names, str) else names))
    return fields


def _definitions(root: Schema) -> list[tuple[str, Schema]]:
    return [(place, inner) for place, inner, keyword in subschemas(root) if keyword in ("$defs", "definitions")]


def _strange_references(schema: Schema, path: str = "$") -> list[str]:
    """Every place of a reference to anything but a definition of the tool."""
    ref = schema.get("$ref")
    known = ref is None or str(ref).startswith(("#/$defs/", "#/definitions/"))
    found: Sequence[str] = [] if known else [step(path, "$ref")]
    return [*found, *(p for where, inner, _ in subschemas(schema, path) for p in _strange_references(inner, where))]
