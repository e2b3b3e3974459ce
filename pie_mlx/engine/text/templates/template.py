"""A model's Jinja chat template: messages in, text out, the same text on every day and machine."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pie_mlx.engine.text.templates.process import (
    TODAY,
    BrokenTemplateError,
    RenderingKilledError,
    RenderingRefusedError,
    TemplateProcess,
    shared,
)
from pie_mlx.errors import ModelLoadError, TemplateError

Message = dict[str, Any]

CHATML = (
    "{%- for message in messages -%}"
    "{{ '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}"
    "{%- endfor -%}"
    "{%- if add_generation_prompt -%}{{ '<|im_start|>assistant\\n' }}{%- endif -%}"
)
"""What a model without a template of its own is given (D1)."""


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
    may be told in `told`. While it is `on_trial`, as at first, it is no template for a model if it has to be killed:
    that raises ModelLoadError.
    Raises TemplateError at construction for text that is no template.
    """

    def __init__(
        self,
        source_for: Callable[[Sequence[Any] | None], str],
        special_tokens: Mapping[str, Any],
        told: Mapping[str, Any] | None = None,
        process: TemplateProcess = shared,
    ) -> None:
        self._process = process
        self._variables = {**special_tokens, "date_string": TODAY.strftime("%d %b %Y"), **(told or {})}
        self._plain, self.source = source_for(None), source_for([{}])
        read = [self._read(source) for source in {self.source, self._plain}]
        self.variables = frozenset[str]().union(*read) - special_tokens.keys()
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

    def _read(self, source: str) -> frozenset[str]:
        try:
            return self._process.variables(source)
        except (BrokenTemplateError, RenderingRefusedError) as error:
            raise TemplateError(f"chat template: {error}", hint=_REPAIR) from error
