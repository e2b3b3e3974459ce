"""Structured output: a Python type to a JSON Schema, and text back to a value."""

from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

from inferlet._generation.pydantic_schema import Describe, describer, readable_schema
from inferlet._generation.string_forms import check_enforceable, with_patterns, with_repeatable_sets
from inferlet.constraint import AnyJson, GrammarSchema, JsonSchema
from pie_mlx.errors import InvalidTypeError, StructuredOutputError

Parse = Callable[[str], Any]
T = TypeVar("T")


def plan_structure(schema: object, parse: Parse | None) -> tuple[GrammarSchema, Parse]:
    """The schema to generate under, and the parser of the text (G11).

    `schema` is JSON text, a dict, a pydantic model class, a type made of those, a TypeAdapter, or any type msgspec
    knows (dataclass, Struct, TypedDict, list[int] ...); None is any JSON. Raises InvalidTypeError for other values, and
    for types with a part that no schema describes.
    """
    constraint, reader = _plan(schema)
    return constraint, parse or reader


def parse_text(parse: Parse, text: str, *, cut_after: int = 0) -> Any:
    """The value. Raises StructuredOutputError, with the text, when `parse` cannot read it. `cut_after`: the tokens
    after which the text was cut short, 0 for a whole one."""
    try:
        return parse(text)
    except (ValueError, TypeError, LookupError, msgspec.MsgspecError) as error:
        if cut_after:
            raise StructuredOutputError(
                f"collect_json: the text does not parse, it is cut short after {cut_after} tokens",
                hint="raise max_tokens, or bound strings (maxLength) and arrays (maxItems) in the schema",
                text=text,
            ) from error
        raise StructuredOutputError(
            f"collect_json: the text does not parse: {error}",
            hint="bound too large numbers (minimum, maximum)",
            text=text,
        ) from error


def _plan(schema: object) -> tuple[GrammarSchema, Parse]:
    if schema is None:
        return AnyJson(), msgspec.json.decode
    if isinstance(schema, str):
        return JsonSchema(schema), msgspec.json.decode
    if isinstance(schema, dict):
        return JsonSchema(schema), msgspec.json.decode  # pyright: ignore[reportUnknownArgumentType]
    own = _described(schema, lambda: describer(schema))
    return _typed(schema) if own is None else _pydantic(schema, *own)


def _pydantic(target: Any, describe: Describe, parse: Parse) -> tuple[GrammarSchema, Parse]:
    schema = with_patterns(_described(target, lambda: readable_schema(describe)))
    return JsonSchema(schema), lambda text: parse(_held(text))


def _held(text: str) -> str:
    """The text. Raises ValidationError of msgspec for a number that no float holds, where pydantic reads infinity."""
    msgspec.json.decode(text)
    return text


def _typed(target: Any) -> tuple[GrammarSchema, Parse]:
    schema = with_patterns(_described(target, lambda: msgspec.json.schema(target)))
    check_enforceable(target)
    return JsonSchema(with_repeatable_sets(schema, target)), lambda text: msgspec.json.decode(text, type=target)


def _described(target: Any, describe: Callable[[], T]) -> T:
    try:
        return describe()
    except (TypeError, ValueError, RuntimeError, NameError, msgspec.MsgspecError) as error:
        raise InvalidTypeError(
            f"schema: {target!r} describes no JSON: {error}",
            hint="pass JSON text, a dict, a pydantic model or TypeAdapter, a dataclass or a msgspec Struct",
        ) from error
