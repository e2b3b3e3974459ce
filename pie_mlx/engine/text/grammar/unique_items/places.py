"""The places in texts of a schema: what of it judges a value there, and whether its items must differ."""

import json
import re
from collections.abc import Iterator
from functools import cached_property
from typing import Any, cast

from pie_mlx.engine.text.grammar.json_schema.schema import Schema, replace_subschemas
from pie_mlx.engine.text.json_pointer import referred

_TOGETHER = ("allOf", "anyOf", "oneOf")
_FREE_LENGTH = 16
"""Strings that may be as long never run out."""
_COMPACT: dict[str, Any] = {"ensure_ascii": False, "separators": (",", ":")}
_LENGTHS = frozenset({"minLength", "maxLength"})
_OF_OPEN_OBJECTS = frozenset({"properties", "patternProperties", "required", "minProperties"})
_ANNOTATIONS = frozenset({"title", "description", "default", "examples", "$comment", "deprecated"})


class Places:
    """The places of one schema. A branch of an `anyOf` whose items must differ asks for it in all branches."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._known: dict[frozenset[int], Place] = {}
        self.root = self.of([schema])

    def of(self, schemas: list[Schema]) -> "Place":
        """The place whose values all or some of these judge."""
        found = {id(one): one for schema in schemas for one in self._parts(schema, {})}
        return self._known.setdefault(frozenset(found), Place(self, list(found.values())))

    def _parts(self, schema: Any, seen: dict[int, Schema], *, branches: bool = True) -> Iterator[Schema]:
        """A schema, and those in it and after references that judge the same value."""
        if not isinstance(schema, dict) or id(schema) in seen:  # pyright: ignore[reportUnknownArgumentType]
            return
        fields = cast("Schema", schema)
        seen[id(fields)] = fields
        yield fields
        inner = [part for key in (_TOGETHER if branches else ("allOf",)) for part in fields.get(key, [])]
        if "$ref" in fields:
            inner.append(referred(fields["$ref"], self._schema))
        for part in inner:
            yield from self._parts(part, seen, branches=branches)

    def values_of(self, items: Schema) -> list[Any] | None:
        """The only values that a schema of items may leave; None where it names none."""
        for one in self._parts(items, {}, branches=False):
            if "const" in one:
                return [one["const"]]
            if isinstance(one.get("enum"), list):
                return one["enum"]
            if one.get("type") == "boolean":
                return [True, False]
        return None

    def is_roomy(self, items: Any) -> bool:
        """Whether there is always another value, however one begins."""
        if not isinstance(items, dict):
            return items is not False
        asked = {key: value for key, value in cast("Schema", items).items() if key not in _ANNOTATIONS}
        match asked:
            case {"$ref": ref, **rest} if not rest:
                target = referred(ref, self._schema)
                return target != items and self.is_roomy(target)
            case {"type": "string", **rest}:
                return rest.keys() <= _LENGTHS and rest.get("maxLength", _FREE_LENGTH) >= _FREE_LENGTH
            case {"type": "number" | "integer", **rest}:
                return not rest
            case {"type": "object", **rest}:
                return rest.keys() <= _OF_OPEN_OBJECTS
            case {"type": "array", "items": inner, **rest}:
                return rest.keys() <= {"minItems", "uniqueItems"} and self.is_roomy(inner)
            case _:
                return not asked


class Place:
    """Made by Places alone. `unique`: whether the items of an array there must differ."""

    def __init__(self, places: Places, schemas: list[Schema]) -> None:
        self._places = places
        self._schemas = schemas
        self._properties: dict[str, Place | None] = {}
        self._items: dict[int, Place | None] = {}
        self._leading = max((len(_leading(one)) for one in schemas), default=0)
        self.unique = any(one.get("uniqueItems") is True for one in schemas)

    @cached_property
    def texts(self) -> list[bytes] | None:
        """The texts of all items that there may be; None where they are not named."""
        named = [one for one in self._schemas if "items" in one or "prefixItems" in one]
        items = named[0].get("items") if len(named) == 1 and "prefixItems" not in named[0] else None
        values = self._places.values_of(cast("Schema", items)) if isinstance(items, dict) else None
        return None if values is None else [json.dumps(value, **_COMPACT).encode() for value in values]

    @cached_property
    def is_roomy(self) -> bool:
        """Whether there is always another item, however it begins."""
        named: list[Any] = [one["items"] for one in self._schemas if "items" in one]
        alone = len(named) == 1 and not any("prefixItems" in one for one in self._schemas)
        return not named or (alone and not isinstance(named[0], list) and self._places.is_roomy(named[0]))

    def property(self, name: str) -> "Place | None":
        """The place of a property; None where nothing judges it."""
        if name not in self._properties:
            self._properties[name] = self._place(_properties(self._schemas, name))
        return self._properties[name]

    def item(self, index: int) -> "Place | None":
        """The place of an item; None where nothing judges it."""
        index = min(index, self._leading)
        if index not in self._items:
            self._items[index] = self._place([_item(one, index) for one in self._schemas])
        return self._items[index]

    def _place(self, schemas: list[Any]) -> "Place | None":
        found = [cast("Schema", one) for one in schemas if isinstance(one, dict)]
        return self._places.of(found) if found else None


def _properties(schemas: list[Schema], name: str) -> list[Any]:
    found: list[Any] = []
    for schema in schemas:
        mine = [schema["properties"][name]] if name in schema.get("properties", {}) else []
        mine += [one for pattern, one in schema.get("patternProperties", {}).items() if _fits(pattern, name)]
        found += mine or [schema.get("additionalProperties")]
    return found


def _fits(pattern: str, name: str) -> bool:
    """Whether a name may fit a pattern."""
    try:
        return re.search(pattern, name) is not None
    except re.error:
        return True


def _leading(schema: Schema) -> list[Any]:
    items = schema.get("items")
    return cast("list[Any]", items) if isinstance(items, list) else cast("list[Any]", schema.get("prefixItems", []))


def _item(schema: Schema, index: int) -> Any:
    leading = _leading(schema)
    if index < len(leading):
        return leading[index]
    items = schema.get("items")
    return schema.get("additionalItems") if isinstance(items, list) else items


def asks_for_unique_items(schema: Any) -> bool:
    """Whether a schema, or one in it, has items that must differ."""
    return without_unique_items(schema) != schema


def without_unique_items(schema: Any) -> Any:
    """The same schema without the keyword."""
    kept = {key: value for key, value in cast("Schema", schema).items() if key != "uniqueItems"}
    return replace_subschemas(kept, without_unique_items)
