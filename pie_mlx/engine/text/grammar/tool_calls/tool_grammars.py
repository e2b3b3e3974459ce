"""Grammars of native tool calls, read off the model's own template.

Where the arguments are JSON: the text around them from the template, the arguments by the tool's schema. Where they are
tagged: the tags of the format. Special tokens are written as tokens.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from pie_mlx.engine.text.conversation.chat import ChatRenderer
from pie_mlx.engine.text.conversation.tool_fragments import CallFragments, derive_call, derive_separator, derive_thought
from pie_mlx.engine.text.conversation.writing import tool_schemas
from pie_mlx.engine.text.grammar.base import Walk
from pie_mlx.engine.text.grammar.json_schema.endless import check_endings
from pie_mlx.engine.text.grammar.json_schema.formats import with_exact_formats
from pie_mlx.engine.text.grammar.json_schema.idle import without_idle
from pie_mlx.engine.text.grammar.json_schema.keywords import in_engine_keywords
from pie_mlx.engine.text.grammar.json_schema.locate import locate
from pie_mlx.engine.text.grammar.json_schema.numbers import rounded_numbers
from pie_mlx.engine.text.grammar.json_schema.schema import Schema, close_objects, read_schema
from pie_mlx.engine.text.grammar.json_schema.unsafe import check_safe
from pie_mlx.engine.text.grammar.llguidance_engine import Engines, LlguidanceEngine
from pie_mlx.engine.text.grammar.refusals import refuse_schema
from pie_mlx.engine.text.grammar.tool_calls.tagged_calls import TaggedCalls, json_text
from pie_mlx.engine.text.grammar.unique_items.places import without_unique_items
from pie_mlx.engine.text.tools.call_tags import BREAK
from pie_mlx.engine.text.tools.tool_families import BY_STYLE, ToolFamily

_NO_ARGUMENTS: Schema = {"type": "object", "properties": {}, "additionalProperties": False}
_ANY_TEXT = r"/(.|\n)*/"


class NativeToolGrammars:
    """The tool calls of one model. Safe to use from any thread."""

    def __init__(self, chat: ChatRenderer) -> None:
        self._chat = chat
        tools = chat.formats().tools
        self._family: ToolFamily | None = BY_STYLE[tools.style] if tools else None

    def compile(self, schemas: Sequence[str], engines: Engines) -> Walk | None:
        """One or more calls of these tools and nothing else, but for a thought before them where replies are made of
        messages and the template writes one; None where that cannot be enforced (D7).

        Raises InvalidArgumentError for bad tool schemas, GrammarError for parts that cannot be enforced.
        """
        if self._family is None or not schemas:
            return None
        arguments = self._argument_schemas(schemas, engines)
        engine = engines.llguidance("tool")
        if tagged := self._tagged(engine):
            first = next(iter(arguments))
            separator = derive_separator(self._chat.template, first, self._family.openings[0], self._family.closing)
            return engine.compile_lark(tagged.lark(arguments, separator))
        frames = {name: self._frame(name) for name in arguments}
        if any(frame is None for frame in frames.values()):
            return None
        found = {name: frame for name, frame in frames.items() if frame is not None}
        openings = {
            text: schema
            for name, schema in arguments.items()
            for opening in (found[name].opening, _between(found[name]))
            for text in (opening.replace(BREAK, ""), opening.replace(BREAK, "\n"))
        }
        return engine.compile_calls(self._lark(found, arguments), openings)

    def _tagged(self, engine: LlguidanceEngine) -> TaggedCalls | None:
        """None for a family whose arguments are not tagged."""
        tags = self._family.tags if self._family else None
        return TaggedCalls(tags, self._spelled, engine) if tags else None

    def _argument_schemas(self, schemas: Sequence[str], engines: Engines) -> dict[str, Schema]:
        """The closed schema of each tool's arguments, by name, checked part by part."""
        found: dict[str, Schema] = {}
        engine = engines.llguidance("tool")
        tagged = self._tagged(engine)
        for tool in tool_schemas(schemas):
            function = tool["function"]
            written = read_schema(json.dumps(function.get("parameters", {})))
            closed = close_objects(with_exact_formats(without_idle(written)))
            schema = in_engine_keywords(closed, engine.allows_no_value) or _NO_ARGUMENTS
            check_endings(schema)
            places = rounded_numbers(written)
            if not places:
                check_safe(written)
            plain = schema if tagged else without_unique_items(schema)
            if not places and (refusal := engine.schema_error(plain)):
                places = locate(plain, refusal, engine.schema_error)
            if tagged and not places:
                places = tagged.refused(schema)
            if places:
                raise refuse_schema([(f"{function['name']}.parameters: {place}", why) for place, why in places])
            found[function["name"]] = schema
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
        lines = [f"start: {self._thought(names[0])}calls", f"calls: first {closing} | first following+ {last}".rstrip()]
        lines.append("first: " + " | ".join(f"first_{i}" for i in range(len(names))))
        lines.append("following: " + " | ".join(f"following_{i}" for i in range(len(names))))
        for i, name in enumerate(names):
            frame = frames[name]
            between = _between(frame)
            lines.append(f"first_{i}: {self._literal(frame.opening)} arguments_{i}")
            lines.append(f"following_{i}: {self._literal(between)} arguments_{i}")
            lines.append(f"arguments_{i}: %json {json_text(arguments[name])}")
        return "\n".join(lines) + "\n"

    def _thought(self, name: str) -> str:
        """A message that may come before that of the call, in Lark."""
        if self._chat.fragments is None or not self._chat.formats().channels:
            return ""
        found = derive_thought(self._chat.template, self._chat.fragments, name)
        return f"({self._literal(found[0])} {_ANY_TEXT} {self._literal(found[1])})? " if found else ""

    def _literal(self, text: str) -> str:
        """A literal in Lark, its added tokens by number."""
        return " ".join(self._spelled(text))

    def _spelled(self, text: str) -> list[str]:
        """The parts of a text in Lark: strings, added tokens by number, and line breaks that may be missing."""
        tokenizer = self._chat.tokenizer
        numbers = {tokenizer.added_texts[token]: token for token in tokenizer.markup_ids}
        texts = sorted([BREAK, *numbers], key=len, reverse=True)
        named = {text: f"<[{token}]>" for text, token in numbers.items()} | {BREAK: '"\\n"?'}
        parts = re.split("(" + "|".join(map(re.escape, texts)) + ")", text)
        return [named.get(part, json.dumps(part)) for part in parts if part]


def _between(frame: CallFragments) -> str:
    """The text between the arguments of a call and those of another one of the same tool."""
    return frame.between or frame.closing + frame.opening
