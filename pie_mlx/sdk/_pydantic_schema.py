"""JSON Schemas of pydantic models that allow only what pydantic reads. pydantic itself is not imported here."""

from inspect import signature
from typing import Any

from pie_mlx.sdk._text_forms import open_set


def model_schema(model: Any) -> dict[str, Any]:
    """The model's own schema, by its own generator; where that would allow any text, the number which is also read, or
    a name that grammars refuse."""
    generator = signature(model.model_json_schema).parameters.get("schema_generator")
    if generator is None:
        return model.model_json_schema()
    return model.model_json_schema(schema_generator=type("ReadableSchema", (_Readable, generator.default), {}))


class _Readable:
    """Goes before pydantic's GenerateJsonSchema."""

    def decimal_schema(self, schema: Any) -> dict[str, Any]:
        return next(choice for choice in self._own("decimal_schema", schema)["anyOf"] if choice["type"] == "number")

    def complex_schema(self, schema: Any) -> dict[str, Any]:
        return {**self._own("complex_schema", schema), "format": "complex"}

    def json_schema(self, schema: Any) -> dict[str, Any]:
        return {**self._own("json_schema", schema), "format": "json"}

    def set_schema(self, schema: Any) -> dict[str, Any]:
        return open_set(self._own("set_schema", schema))

    def frozenset_schema(self, schema: Any) -> dict[str, Any]:
        return open_set(self._own("frozenset_schema", schema))

    def dict_schema(self, schema: Any) -> dict[str, Any]:
        keys = schema.get("keys_schema", {"type": "any"})
        named = {} if keys["type"] in ("str", "any") else {"propertyNames": self._own("generate_inner", keys)}
        return {**named, **self._own("dict_schema", schema)}

    def _own(self, method: str, schema: Any) -> Any:
        return getattr(super(), method)(schema)
