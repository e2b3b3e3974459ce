"""JSON Schemas of pydantic models that allow only what pydantic can parse. pydantic itself is not imported here."""

import sys
from collections.abc import Callable
from inspect import signature
from typing import Any, get_args

from inferlet._generation.string_forms import repeatable_set

Describe = Callable[..., dict[str, Any]]


def describer(target: Any) -> tuple[Describe, Callable[[str], Any]] | None:
    """The functions by which pydantic describes a type and parses its text, for a model, a TypeAdapter, and types made
    of models such as `list[Model]`. None for other types."""
    if hasattr(target, "model_json_schema"):
        return target.model_json_schema, target.model_validate_json
    if _is_made_of_models(target):
        target = sys.modules["pydantic"].TypeAdapter(target)
    if hasattr(target, "json_schema") and hasattr(target, "validate_json"):
        return target.json_schema, target.validate_json
    return None


def readable_schema(describe: Describe) -> dict[str, Any]:
    """The schema by the type's own generator. Where that would allow any text, it has the equivalent number, or a
    format name that grammars refuse."""
    generator = signature(describe).parameters.get("schema_generator")
    if generator is None:
        return describe()
    return describe(schema_generator=type("ReadableSchema", (_Readable, generator.default), {}))


def _is_made_of_models(target: Any) -> bool:
    """Only if pydantic is imported: a model's class comes from it."""
    return "pydantic" in sys.modules and any(
        hasattr(part, "model_json_schema") or _is_made_of_models(part) for part in get_args(target)
    )


class _Readable:
    """A mixin in front of pydantic's GenerateJsonSchema."""

    def decimal_schema(self, schema: Any) -> dict[str, Any]:
        return next(choice for choice in self._own("decimal_schema", schema)["anyOf"] if choice["type"] == "number")

    def complex_schema(self, schema: Any) -> dict[str, Any]:
        return {**self._own("complex_schema", schema), "format": "complex"}

    def json_schema(self, schema: Any) -> dict[str, Any]:
        return {**self._own("json_schema", schema), "format": "json"}

    def set_schema(self, schema: Any) -> dict[str, Any]:
        return repeatable_set(self._own("set_schema", schema))

    def frozenset_schema(self, schema: Any) -> dict[str, Any]:
        return repeatable_set(self._own("frozenset_schema", schema))

    def dict_schema(self, schema: Any) -> dict[str, Any]:
        keys = schema.get("keys_schema", {"type": "any"})
        named = {} if keys["type"] in ("str", "any") else {"propertyNames": self._own("generate_inner", keys)}
        return {**named, **self._own("dict_schema", schema)}

    def _own(self, method: str, schema: Any) -> Any:
        return getattr(super(), method)(schema)
