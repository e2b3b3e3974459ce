"""A model's Jinja chat template: messages in, text out, the same text on every day and machine."""

import datetime
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import jinja2
from jinja2 import nodes
from jinja2.ext import Extension
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment

from pie_mlx.engine.text.template_variables import variables_in
from pie_mlx.errors import TemplateError

Message = dict[str, Any]

CHATML = (
    "{%- for message in messages -%}"
    "{{ '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}"
    "{%- endfor -%}"
    "{%- if add_generation_prompt -%}{{ '<|im_start|>assistant\\n' }}{%- endif -%}"
)
"""What a model without a template of its own is given (D1)."""

TODAY = datetime.date(2024, 7, 26)
"""The date told to templates that print one: a real date would change every prefix-cache key at midnight."""


class _GenerationTag(Extension):
    """`{% generation %}` marks training targets; for rendering it is transparent."""

    tags = {"generation"}  # noqa: RUF012 (jinja2 reads a plain set)

    def parse(self, parser: Parser) -> list[nodes.Node]:
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


class _Unknown(jinja2.Undefined):
    """A name nobody gave the template. It may ask whether it is there; written out, it would leave a hole in a prompt.
    Fields that a message lacks and special tokens that a tokenizer lacks are written as nothing, as everywhere."""

    def __str__(self) -> str:
        name = str(self._undefined_name)
        if self._undefined_obj is jinja2.utils.missing and not name.endswith("_token"):
            raise jinja2.UndefinedError(f"it writes {name!r}, which is not among its variables")
        return ""


def _refuse(message: str) -> str:
    raise jinja2.TemplateError(message)


def _to_json(
    value: Any,
    ensure_ascii: bool = False,
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    """Jinja's own filter escapes HTML characters, which models have never seen escaped."""
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def _environment() -> ImmutableSandboxedEnvironment:
    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=_Unknown,
        extensions=[_GenerationTag, "jinja2.ext.loopcontrols"],
    )
    filters, names = cast("tuple[dict[str, Any], dict[str, Any]]", (environment.filters, environment.globals))  # pyright: ignore[reportUnknownMemberType]
    filters["tojson"] = _to_json
    names.update(raise_exception=_refuse, strftime_now=TODAY.strftime)
    return environment


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
    may be told in `told`.
    Raises TemplateError at construction for text that is no template.
    """

    def __init__(
        self,
        source_for: Callable[[Sequence[Any] | None], str],
        special_tokens: Mapping[str, Any],
        told: Mapping[str, Any] | None = None,
    ) -> None:
        self._environment = _environment()
        self._variables = {**special_tokens, "date_string": TODAY.strftime("%d %b %Y"), **(told or {})}
        self._plain = self._compile(source_for(None))
        self._with_tools = self._compile(source_for([{}]))
        self.source = source_for([{}])
        read = [variables_in(self._environment, source) for source in {self.source, source_for(None)}]
        self.variables = frozenset[str]().union(*read) - special_tokens.keys()
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
        template = self._with_tools if tools else self._plain
        try:
            return template.render(
                **self._variables,
                messages=given,
                add_generation_prompt=cue,
                tools=tools or self.no_tools,
            )
        except Exception as error:  # a template is a program of its own and fails with whatever it likes
            raise TemplateError(
                f"chat template: refuses this conversation: {error}", hint="change the order or kind of turns"
            ) from error

    def _compile(self, source: str) -> jinja2.Template:
        try:
            return self._environment.from_string(source)
        except jinja2.TemplateSyntaxError as error:
            raise TemplateError(
                f"chat template: line {error.lineno}: {error.message}",
                hint="repair chat_template in the model's folder",
            ) from error
