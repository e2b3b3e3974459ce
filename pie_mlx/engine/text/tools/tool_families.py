"""The native tool-call formats, each recognised by what its template writes, never by a model's name."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pie_mlx.calls import ParsedToolCall, ToolFormat
from pie_mlx.engine.text.tools import call_tags, json_calls, marked_calls
from pie_mlx.engine.text.tools.call_tags import CallTags

Schemas = Mapping[str, Mapping[str, Any]]
"""Parameter schemas by tool name, for formats whose values carry no type."""


@dataclass(frozen=True, slots=True)
class ToolFamily:
    """A format. `signs` must all occur in the template; the first family of the table that fits is taken.

    A call block begins with one of `openings` and ends with `closing`, or with the turn where that is empty. A whole
    reply that begins with the character `bare` is tried as a call too. `parse` gets a block without its delimiters and
    raises ValueError when it is malformed. `tags` stand around parameters that are not one JSON object. `spell` writes
    calls, for templates of the family that take them only as the text of a reply.
    """

    style: str
    signs: Sequence[str]
    openings: Sequence[str]
    closing: str
    parse: Callable[[str, Schemas], list[ParsedToolCall]]
    bare: str = ""
    tags: CallTags | None = None
    spell: Callable[[Sequence[ParsedToolCall]], str] | None = None

    @property
    def format(self) -> ToolFormat:
        return ToolFormat(self.style, list(self.openings), self.closing, self.bare)


FAMILIES = (
    ToolFamily(
        "function_tags", ["<tool_call>", "<function="], ["<tool_call>"], "</tool_call>",
        marked_calls.parse_function_tags, tags=call_tags.FUNCTION_TAGS,
    ),
    ToolFamily(
        "key_value_tags", ["<tool_call>", "<arg_key>"], ["<tool_call>"], "</tool_call>",
        marked_calls.parse_key_value_tags, tags=call_tags.KEY_VALUE_TAGS,
    ),
    ToolFamily("longcat", ["<longcat_tool_call>"], ["<longcat_tool_call>"], "</longcat_tool_call>",
               json_calls.parse_object),
    ToolFamily(
        "invoke_tags", ["<minimax:tool_call>"], ["<minimax:tool_call>"], "</minimax:tool_call>",
        marked_calls.parse_invoke_tags, tags=call_tags.INVOKE_TAGS,
    ),
    ToolFamily(
        "hermes", ["<tool_call>"], ["<tool_call>"], "</tool_call>", json_calls.parse_object,
        spell=json_calls.spell_objects,
    ),
    ToolFamily("gemma", ["<|tool_call>"], ["<|tool_call>"], "<tool_call|>", marked_calls.parse_gemma),
    ToolFamily(
        "function_gemma", ["<start_function_call>"], ["<start_function_call>"], "<end_function_call>",
        marked_calls.parse_gemma,
    ),
    ToolFamily("harmony", ["<|channel|>", "<|message|>", "functions."], [], "", json_calls.parse_harmony),
    ToolFamily(
        "deepseek", ["<｜tool▁calls▁begin｜>"], ["<｜tool▁calls▁begin｜>"], "<｜tool▁calls▁end｜>",
        json_calls.parse_deepseek,
    ),
    ToolFamily(
        "kimi", ["<|tool_calls_section_begin|>"], ["<|tool_calls_section_begin|>"], "<|tool_calls_section_end|>",
        json_calls.parse_kimi,
    ),
    ToolFamily("command", ["<|START_ACTION|>"], ["<|START_ACTION|>"], "<|END_ACTION|>", json_calls.parse_list),
    ToolFamily("mistral", ["[TOOL_CALLS]"], ["[TOOL_CALLS]"], "", json_calls.parse_mistral),
    ToolFamily(
        "python_block", ["<|tool_call_start|>"], ["<|tool_call_start|>"], "<|tool_call_end|>",
        marked_calls.parse_python,
    ),
    ToolFamily("olmo", ["<function_calls>"], ["<function_calls>"], "</function_calls>", marked_calls.parse_python),
    ToolFamily("nemotron", ["<TOOLCALL>"], ["<TOOLCALL>"], "</TOOLCALL>", json_calls.parse_list),
    ToolFamily(
        "granite", ["<|tool_call|>"], ["<|tool_call|>"], "", json_calls.parse_list, spell=json_calls.spell_list,
    ),
    ToolFamily("llama", ["ipython", '"parameters": '], ["<|python_tag|>"], "", marked_calls.parse_python_tag, bare="{"),
    ToolFamily("python_list", ["ipython", "func_name1("], [], "", marked_calls.parse_python, bare="["),
)  # fmt: skip

BY_STYLE = {family.style: family for family in FAMILIES}


def recognise_family(template: str) -> ToolFamily | None:
    """The family whose delimiters the template's text has; None for a template without tools."""
    return next((family for family in FAMILIES if all(sign in template for sign in family.signs)), None)
