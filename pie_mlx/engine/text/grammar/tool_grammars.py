"""Grammars of native tool calls, read off the model's own template.

Where the arguments are JSON: the text around them from the template, the arguments by the tool's schema, for
llguidance. Where they are tagged: xgrammar's notation for them. Special tokens are written as tokens.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pie_mlx.engine.text.chat import ChatRenderer
from pie_mlx.engine.text.grammar.base import Walk
from pie_mlx.engine.text.grammar.endless import check_endings
from pie_mlx.engine.text.grammar.engines import Engines
from pie_mlx.engine.text.grammar.formats import with_exact_formats, with_format_patterns
from pie_mlx.engine.text.grammar.idle import without_idle
from pie_mlx.engine.text.grammar.locate import locate
from pie_mlx.engine.text.grammar.numbers import rounded_numbers
from pie_mlx.engine.text.grammar.refusals import refuse_schema
from pie_mlx.engine.text.grammar.schema import Schema, close_objects, read_schema, step, subschemas
from pie_mlx.engine.text.grammar.takeable import check_takeable
from pie_mlx.engine.text.tool_families import BY_STYLE, ToolFamily
from pie_mlx.engine.text.tool_fragments import CallFragments, derive_call, derive_separator
from pie_mlx.engine.text.writing import tool_schemas
from pie_mlx.errors import GrammarError

_NO_ARGUMENTS: Schema = {"type": "object", "properties": {}, "additionalProperties": False}
_LENGTHS = frozenset({"minLength", "maxLength"})
_XML_FRAMES: Mapping[str, tuple[str, str]] = {
    "qwen_xml": ("<tool_call>\n<function={name}>\n", "\n</function>\n</tool_call>"),
    "glm_xml": ("<tool_call>{name}", "</tool_call>"),
    "minimax_xml": ('<minimax:tool_call>\n<invoke name="{name}">\n', "</invoke>\n</minimax:tool_call>"),
}


class NativeToolGrammars:
    """The tool calls of one model. Safe to use from any thread."""

    def __init__(self, chat: ChatRenderer) -> None:
        self._chat = chat
        tools = chat.formats().tools
        self._family: ToolFamily | None = BY_STYLE[tools.style] if tools else None

    def compile(self, schemas: Sequence[str], engines: Engines) -> Walk | None:
        """One or more calls of these tools and nothing else; None where that cannot be enforced (D7).

        Raises InvalidArgumentError for bad tool schemas, GrammarError for parts that cannot be enforced.
        """
        if self._family is None or not schemas:
            return None
        arguments = self._argument_schemas(schemas, engines)
        if self._family.xml_style:
            return self._tagged(self._family, arguments, engines)
        frames = {name: self._frame(name) for name in arguments}
        if any(frame is None for frame in frames.values()):
            return None
        found = {name: frame for name, frame in frames.items() if frame is not None}
        return engines.llguidance("tool").compile_lark(self._lark(found, arguments))

    def _argument_schemas(self, schemas: Sequence[str], engines: Engines) -> dict[str, Schema]:
        """The closed schema of each tool's arguments, by name, checked part by part."""
        found: dict[str, Schema] = {}
        engine = engines.llguidance("tool")
        for tool in tool_schemas(schemas):
            function = tool["function"]
            written = read_schema(json.dumps(function.get("parameters", {})))
            tagged = self._family is not None and bool(self._family.xml_style)
            with_formats = with_format_patterns if tagged else with_exact_formats
            schema = close_objects(with_formats(without_idle(written)))
            check_endings(schema)
            places = rounded_numbers(written)
            if not places:
                check_takeable(written)
            if not places and (refusal := engine.schema_error(schema)):
                places = locate(schema, refusal, engine.schema_error)
            if tagged and not places:
                places = [(place, "is not enforceable in tagged calls") for place in _beyond_tags(schema)]
            if places:
                raise refuse_schema([(f"{function['name']}.parameters: {place}", why) for place, why in places])
            found[function["name"]] = schema or _NO_ARGUMENTS
        return found

    def _frame(self, name: str) -> CallFragments | None:
        if self._chat.fragments is None:
            return None
        frame = derive_call(self._chat.template, self._chat.fragments, self._chat.turn_ends, name)
        reasoning = self._chat.formats().reasoning
        if frame is None or reasoning is None or reasoning.closing not in frame.opening:
            return frame
        opening = frame.opening.partition(reasoning.closing)[2].lstrip("\n")
        return replace(frame, opening=opening)

    def _lark(self, frames: Mapping[str, CallFragments], arguments: Mapping[str, Schema]) -> str:
        """All tools share the end of the block; a following call may be of any of them."""
        names = list(frames)
        closing, last = (self._literal(text) for text in (frames[names[0]].closing, frames[names[0]].last))
        lines = [f"start: first {closing} | first following+ {last}".rstrip()]
        lines.append("first: " + " | ".join(f"first_{i}" for i in range(len(names))))
        lines.append("following: " + " | ".join(f"following_{i}" for i in range(len(names))))
        for i, name in enumerate(names):
            frame = frames[name]
            between = frame.between or frame.closing + frame.opening
            lines.append(f"first_{i}: {self._literal(frame.opening)} arguments_{i}")
            lines.append(f"following_{i}: {self._literal(between)} arguments_{i}")
            lines.append(f"arguments_{i}: %json {_schema_text(arguments[name])}")
        return "\n".join(lines) + "\n"

    def _literal(self, text: str) -> str:
        """A literal in Lark, its added tokens by number."""
        tokenizer = self._chat.tokenizer
        numbers = {tokenizer.added_texts[token]: token for token in tokenizer.markup_ids}
        texts = sorted(numbers, key=len, reverse=True)
        parts = re.split("(" + "|".join(map(re.escape, texts)) + ")", text) if texts else [text]
        return " ".join(
            f"<[{numbers[part]}]>" if part in numbers else json.dumps(part, ensure_ascii=False)
            for part in parts
            if part
        )

    def _tagged(self, family: ToolFamily, arguments: Mapping[str, Schema], engines: Engines) -> Walk | None:
        engine = engines.xgrammar("tags")
        if engine is None:
            return None
        style = family.xml_style
        begin, end = _XML_FRAMES[style]
        separator = derive_separator(self._chat.template, next(iter(arguments)), family.openings[0], family.closing)
        tags: list[dict[str, Any]] = [
            {
                "type": "tag",
                "begin": begin.format(name=name),
                "content": {"type": "json_schema", "json_schema": schema, "style": style},
                "end": end,
            }
            for name, schema in arguments.items()
        ]
        calls = {"type": "tags_with_separator", "tags": tags, "separator": separator, "at_least_one": True}
        walk = engine.compile_structural_tag(json.dumps({"type": "structural_tag", "format": calls}))
        if walk is None:
            raise GrammarError("tools: their schemas do not compile in time", hint="offer fewer or simpler tools")
        return walk


def _beyond_tags(schema: Schema, path: str = "$") -> list[str]:
    """Every place of what xgrammar drops without a word."""
    found = [step(path, "allOf")] if len(schema.get("allOf", [])) > 1 else []
    found += [step(path, "multipleOf")] if "multipleOf" in schema and schema.get("type") != "integer" else []
    found += [step(path, "format")] if schema.get("format") in ("date", "time", "date-time") else []
    found += [step(path, "pattern")] if "pattern" in schema and _LENGTHS & schema.keys() else []
    return found + [place for where, inner, _ in subschemas(schema, path) for place in _beyond_tags(inner, where)]


def _schema_text(schema: Schema) -> str:
    """A schema inside Lark. Arguments are written compactly or with single spaces, as templates write them."""
    return json.dumps({**schema, "x-guidance": {"whitespace_pattern": " "}})
