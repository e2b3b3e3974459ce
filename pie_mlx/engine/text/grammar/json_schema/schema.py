"""JSON Schemas on their way to an engine: read, closed, walked."""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, cast
from urllib.parse import quote

from pie_mlx.documents import STRICT_NUMBERS
from pie_mlx.engine.text.json_pointer import pointer, referred
from pie_mlx.engine.text.nesting import MAXIMUM_DEPTH, nesting
from pie_mlx.errors import GrammarError

Schema = dict[str, Any]

_MAPS = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies")
_LISTS = ("allOf", "anyOf", "oneOf", "prefixItems")
_SINGLES = (
    "additionalProperties", "unevaluatedProperties", "propertyNames", "items", "additionalItems", "unevaluatedItems",
    "contains", "not", "if", "then", "else",
)  # fmt: skip
_TOGETHER = (
    "allOf", "anyOf", "oneOf", "if", "then", "else", "not", "$ref", "dependentSchemas", "dependencies", "$dynamicRef",
)  # fmt: skip
"""Keywords that judge the same object as the properties beside them: closing either would refuse the other's."""
_DIALECT = re.compile(r"https?://json-schema\.org/(?:draft[-/](0[34567]|2019-09|2020-12)/)?schema#?$")
_HOLDING = frozenset({*_MAPS, *_LISTS, *_SINGLES})
_ELSEWHERE = frozenset({"additionalProperties", "unevaluatedProperties"})


def read_schema(text: str) -> Schema:
    """A schema from JSON text. Raises GrammarError for text that is none, or that is nested too deeply."""
    try:
        schema: object = json.loads(text, **STRICT_NUMBERS)
    except (ValueError, RecursionError) as error:
        raise GrammarError(f"schema: not JSON: {error}", hint="pass a JSON Schema as JSON text") from error
    if nesting(schema) >= MAXIMUM_DEPTH:
        raise GrammarError(
            f"schema: nested more than {MAXIMUM_DEPTH} levels deep",
            hint="move inner schemas into $defs and refer to them",
        )
    if isinstance(schema, bool):
        return {} if schema else {"not": {}}
    if not isinstance(schema, dict):
        raise GrammarError("schema: $: must be an object or a boolean", hint="pass a JSON Schema")
    return _with_found_definitions(_with_known_dialect(cast("Schema", schema)))


def _with_known_dialect(schema: Schema) -> Schema:
    """The schema in the spelling of its dialect that engines know. One that names no draft is of the newest."""
    named = _DIALECT.match(str(schema.get("$schema", "")))
    if named is None:
        return schema
    draft = f"draft-{named[1]}/schema#" if len(named[1] or "") == 2 else f"draft/{named[1]}/schema"
    scheme = "http" if draft.endswith("#") else "https"
    rest = {key: value for key, value in schema.items() if key != "$schema"}
    return {"$schema": f"{scheme}://json-schema.org/{draft}", **rest} if named[1] else rest


def _with_found_definitions(schema: Schema) -> Schema:
    """The schema with what is referred to outside of all schemas, or by a name that is no URI, as a definition."""
    moved: dict[str, str] = {}
    found: Schema = {}
    for ref in _references(schema):
        keys = pointer(ref)
        is_odd = keys and (keys[0] not in _HOLDING or ref != quote(ref, safe="#/%:?=&~!$'()*+,;@"))
        target = referred(ref, schema) if is_odd else None
        if isinstance(target, dict) and ref not in moved:
            moved[ref] = f"#/$defs/moved-{len(moved)}"
            found[f"moved-{len(moved) - 1}"] = target
    if not moved:
        return schema
    known = schema.get("$defs")
    return _moved({**schema, "$defs": {**(known if isinstance(known, dict) else {}), **found}}, moved)


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        ref = cast("Schema", value).get("$ref")
        if isinstance(ref, str):
            yield ref
    if isinstance(value, dict | list):
        inner = cast("Schema", value).values() if isinstance(value, dict) else cast("list[Any]", value)
        for one in inner:
            yield from _references(one)


def _moved(value: Any, moved: dict[str, str]) -> Any:
    if isinstance(value, list):
        return [_moved(one, moved) for one in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return value
    fields = {key: _moved(one, moved) for key, one in cast("Schema", value).items()}
    ref = fields.get("$ref")
    return {**fields, "$ref": moved[ref]} if isinstance(ref, str) and ref in moved else fields


def step(path: str, key: str | int) -> str:
    """A JSON path one step further: `$.properties.a`, `$.anyOf[0]`, `$.properties["two words"]`."""
    if isinstance(key, int):
        return f"{path}[{key}]"
    return f"{path}.{key}" if key.replace("$", "").isidentifier() else f"{path}[{json.dumps(key)}]"


def subschemas(schema: object, path: str = "$") -> Iterator[tuple[str, Schema, str]]:
    """The schemas directly inside one: path, schema, and the keyword that holds it."""
    if not isinstance(schema, dict):
        return
    fields = cast("Schema", schema)
    for keyword, value in fields.items():
        place = step(path, keyword)
        if keyword in _MAPS and isinstance(value, dict):
            entries = [(step(place, name), inner) for name, inner in cast("Schema", value).items()]
        elif (keyword in _LISTS or keyword == "items") and isinstance(value, list):
            entries = [(step(place, i), inner) for i, inner in enumerate(cast("list[object]", value))]
        else:
            entries = [(place, value)] if keyword in _SINGLES else []
        yield from ((where, cast("Schema", inner), keyword) for where, inner in entries if isinstance(inner, dict))


def replace_subschemas(schema: Schema, replace: Callable[[Schema], Schema]) -> Schema:
    """A copy whose direct subschemas are replaced."""

    def inside(keyword: str, value: Any) -> Any:
        if keyword in _MAPS and isinstance(value, dict):
            return {name: one(inner) for name, inner in cast("Schema", value).items()}
        if (keyword in _LISTS or keyword == "items") and isinstance(value, list):
            return [one(inner) for inner in cast("list[Any]", value)]
        return one(value) if keyword in _SINGLES else value

    def one(inner: Any) -> Any:
        return replace(cast("Schema", inner)) if isinstance(inner, dict) else inner

    return {keyword: inside(keyword, value) for keyword, value in schema.items()}


def close_objects(schema: Schema) -> Schema:
    """Close every object that declares properties and says nothing of others (G13).

    Schemas that share their object with combinators stay open, and so do the branches that share it with them: each
    would refuse what the other declares.
    """
    return _closed(schema, shared=False, open_refs=_shared_refs(schema))


def _shared_refs(schema: Schema) -> frozenset[str]:
    """Definitions that are referred to beside other constraints on the same object."""
    found: set[str] = set()
    waiting: list[tuple[Schema, bool]] = [(schema, False)]
    while waiting:
        current, shared = waiting.pop()
        ref = current.get("$ref")
        if isinstance(ref, str) and (shared or "properties" in current):
            found.add(ref)
        joint = _joins(current)
        waiting += [(inner, keyword in _TOGETHER and (shared or joint)) for _, inner, keyword in subschemas(current)]
    return frozenset(found)


def _joins(schema: Schema) -> bool:
    """Whether several parts of this schema judge one object together."""
    return "properties" in schema or len(cast("list[Any]", schema.get("allOf", []))) > 1 or "if" in schema


def _closed(schema: Schema, *, shared: bool, open_refs: frozenset[str], path: str = "#") -> Schema:
    closed: Schema = dict(schema)
    joint = _joins(schema)
    for keyword, value in schema.items():
        inner_shared = keyword in _TOGETHER and (shared or joint or keyword == "not")
        closed[keyword] = _closed_inside(keyword, value, inner_shared, open_refs, f"{path}/{keyword}")
    declares = isinstance(schema.get("properties"), dict) and not _ELSEWHERE & schema.keys()
    combined = any(keyword in schema for keyword in _TOGETHER)
    if declares and not combined and not shared and path not in open_refs:
        closed["properties"] = {**closed["properties"], **_undeclared(schema.get("required"), closed["properties"])}
        closed["additionalProperties"] = False
    return closed


def _undeclared(required: object, properties: Schema) -> Schema:
    """Properties that must be there, though nothing is said of them."""
    names = cast("list[Any]", required) if isinstance(required, list) else []
    return {name: True for name in names if isinstance(name, str) and name not in properties}


def _closed_inside(keyword: str, value: Any, shared: bool, open_refs: frozenset[str], path: str) -> Any:
    def close(inner: Any, where: str) -> Any:
        if not isinstance(inner, dict):
            return inner
        return _closed(cast("Schema", inner), shared=shared, open_refs=open_refs, path=where)

    if keyword in _MAPS and isinstance(value, dict):
        return {name: close(inner, f"{path}/{name}") for name, inner in cast("Schema", value).items()}
    if (keyword in _LISTS or keyword == "items") and isinstance(value, list):
        return [close(inner, f"{path}/{i}") for i, inner in enumerate(cast("list[Any]", value))]
    return close(value, path) if keyword in _SINGLES else value
