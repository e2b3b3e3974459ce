"""The kinds of values that a schema may allow: they decide how text without quotes is read."""

from typing import Any, cast

from pie_mlx.engine.text.json_pointer import referred

KINDS = frozenset({"string", "integer", "number", "boolean", "null", "array", "object"})
TEXT_ALONE = frozenset({"string"})


def kinds_of(schema: object, root: object) -> frozenset[str]:
    """At least the kinds of the values that fit `schema`, whose references lead into `root`."""
    return _kinds(schema, root, {})


def value_kinds(value: object) -> frozenset[str]:
    """What a value is called: a whole number with a fraction of zero is an integer too."""
    match value:
        case None:
            return frozenset({"null"})
        case bool():
            return frozenset({"boolean"})
        case int():
            return frozenset({"integer"})
        case float():
            return frozenset({"integer", "number"} if value.is_integer() else {"number"})
        case str():
            return frozenset({"string"})
        case _:
            return frozenset({"array"} if isinstance(value, list) else {"object"})


def _kinds(schema: object, root: object, known: dict[str, frozenset[str]]) -> frozenset[str]:
    """Those of references are `known` once they were followed: definitions may refer to others many times over."""
    if not isinstance(schema, dict):
        return frozenset() if schema is False else KINDS
    fields = cast("dict[str, Any]", schema)
    found = KINDS & _named(fields["type"]) if "type" in fields else KINDS
    if "const" in fields:
        found &= value_kinds(fields["const"])
    if "enum" in fields:
        found &= frozenset[str]().union(*(value_kinds(value) for value in fields["enum"]))
    ref = fields.get("$ref")
    if isinstance(ref, str):
        if ref not in known:
            known[ref] = KINDS  # inside of itself it says nothing
            known[ref] = _kinds(referred(ref, root), root, known)
        found &= known[ref]
    for part in fields.get("allOf", []):
        found &= _kinds(part, root, known)
    for keyword in ("anyOf", "oneOf"):
        if keyword in fields:
            found &= frozenset[str]().union(*(_kinds(part, root, known) for part in fields[keyword]))
    return found


def _named(kind: Any) -> frozenset[str]:
    names = frozenset[str]([kind] if isinstance(kind, str) else kind)
    return names | {"integer"} if "number" in names else names
