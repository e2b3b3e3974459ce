"""A model's Jinja chat template: messages in, text out, the same text on every machine."""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal

from pie_mlx.engine.text.templates.process import (
    BrokenTemplateError,
    RenderingKilledError,
    RenderingRefusedError,
    TemplateProcess,
    shared,
)
from pie_mlx.errors import ModelLoadError, TemplateError

Message = dict[str, Any]

CHATML = (
    "{{- begin_text -}}"
    "{%- for message in messages -%}"
    "{{ '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}"
    "{%- endfor -%}"
    "{%- if add_generation_prompt -%}{{ '<|im_start|>assistant\\n' }}{%- endif -%}"
)
"""What a model without a template of its own is given (D1), after what its tokenizer puts before a text."""


EPOCH = datetime(1970, 1, 1)
"""The date of a template that is examined, for no conversation."""

_DATES = frozenset({"strftime_now", "date_string"})
"""Variables that give a template the date: a function of a format, and a text."""
_TIME_OF_DAY = re.compile(r"%[-_0^#]?[HIMSpcXfTRrskl]")

_REPAIR = "repair chat_template in the model's folder"


def _as_parts(message: Message) -> Message:
    content = message.get("content")
    return message if not isinstance(content, str) else {**message, "content": [{"type": "text", "text": content}]}


def _unchanged(message: Message) -> Message:
    return message


class ChatTemplate:
    """Renders conversations. `source_for(tools)` chooses the template text: some models have one for tool use.

    `content_parts`: the template wants lists of parts instead of text, as those of vision models do. `no_tools`: what
    it takes for the absence of tools. `restyle_calls`: a message with tool calls, their arguments as objects, as the
    template takes it. `variables` names what the template reads besides the conversation and `special_tokens`, and
    may be told in `told`; the date, where it reads one, is `date`. `date_unit` is how exactly it tells the date. While
    it is `on_trial`, as at first, it is no template for a model if it has to be killed: that raises ModelLoadError.
    Raises TemplateError at construction for text that is no template.
    """

    def __init__(
        self,
        source_for: Callable[[Sequence[Any] | None], str],
        special_tokens: Mapping[str, Any],
        told: Mapping[str, Any] | None = None,
        process: TemplateProcess = shared,
        date: datetime = EPOCH,
    ) -> None:
        self._process = process
        dates = {"strftime_now": date.strftime, "date_string": date.strftime("%d %b %Y")}
        self._variables = {**special_tokens, **dates, **(told or {})}
        self._plain, self.source = source_for(None), source_for([{}])
        read = frozenset[str]().union(*(self._read(source) for source in {self.source, self._plain}))
        self.date_unit = self._unit_of_dates(read)
        settable = {*read, "date"} if self.date_unit else read
        self.variables = frozenset(settable) - special_tokens.keys() - {"strftime_now"}
        self.on_trial = True
        self.content_parts = False
        self.no_tools: Sequence[Any] | None = None
        self.restyle_calls: Callable[[Message], Message] = _unchanged

    @staticmethod
    def from_text(source: str, special_tokens: Mapping[str, Any] | None = None) -> "ChatTemplate":
        """One template for everything."""
        return ChatTemplate(lambda _: source, special_tokens or {})

    def render(
        self,
        messages: Sequence[Message],
        *,
        cue: bool = False,
        tools: Sequence[Any] | None = None,
    ) -> str:
        """The text of a conversation, ending with the assistant's opening if `cue`. Raises TemplateError."""
        given = [self.restyle_calls(message) if "tool_calls" in message else message for message in messages]
        if self.content_parts:
            given = [_as_parts(message) for message in given]
        names = {
            **self._variables,
            "messages": given,
            "add_generation_prompt": cue,
            "tools": tools or self.no_tools,
        }
        try:
            return self._process.render(self.source if tools else self._plain, names)
        except RenderingRefusedError as error:
            if self.on_trial and isinstance(error, RenderingKilledError):
                raise ModelLoadError(f"chat template: {error}", hint=_REPAIR) from error
            raise TemplateError(
                f"chat template: refuses this conversation: {error}", hint="change the order or kind of turns"
            ) from error

    def _unit_of_dates(self, read: frozenset[str]) -> Literal["", "day", "minute"]:
        """How exactly the template tells the time; "" where it does not."""
        if not read & _DATES:
            return ""
        tells_time = "strftime_now" in read and _TIME_OF_DAY.search(self.source + self._plain)
        return "minute" if tells_time else "day"

    def _read(self, source: str) -> frozenset[str]:
        try:
            return self._process.variables(source)
        except (BrokenTemplateError, RenderingRefusedError) as error:
            raise TemplateError(f"chat template: {error}", hint=_REPAIR) from error
