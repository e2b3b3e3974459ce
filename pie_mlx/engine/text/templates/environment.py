"""Jinja as chat templates know it. Only the process that renders imports this."""

import json
from typing import Any, cast

import jinja2
from jinja2 import nodes
from jinja2.ext import Extension
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment


class _GenerationTag(Extension):
    """`{% generation %}` marks training targets; for rendering it is transparent."""

    tags = {"generation"}  # noqa: RUF012 (jinja2 reads a plain set)

    def parse(self, parser: Parser) -> list[nodes.Node]:
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


class _Unknown(jinja2.Undefined):
    """A name without a value. A template may test whether it is defined; written out, it would leave a gap in a prompt.
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


def chat_environment() -> ImmutableSandboxedEnvironment:
    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=_Unknown,
        extensions=[_GenerationTag, "jinja2.ext.loopcontrols"],
    )
    filters, names = cast("tuple[dict[str, Any], dict[str, Any]]", (environment.filters, environment.globals))  # pyright: ignore[reportUnknownMemberType]
    filters["tojson"] = _to_json
    names["raise_exception"] = _refuse
    return environment
