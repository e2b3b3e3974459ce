"""Types whose JSON is a string of a special form, such as dates: the form becomes a pattern, or the type is refused."""

from collections.abc import Iterator
from typing import Any, cast

from msgspec import inspect

from pie_mlx.errors import InvalidTypeError

_FRACTION = r"(?:\.[0-9]{1,6})?"
_SECONDS = f"[0-9]{{1,4}}{_FRACTION}S"
_MINUTES = f"[0-9]{{1,4}}M(?:{_SECONDS})?"
_CLOCK = f"T(?:[0-9]{{1,4}}H(?:{_MINUTES}|{_SECONDS})?|{_MINUTES}|{_SECONDS})"
_YEAR = r"(?:[0-9]{3}[1-9]|[0-9]{2}[1-9]0|[0-9][1-9]00|[1-9]000)"
_OF_DAY = rf"[0-9]{{2}}:[0-9]{{2}}:[0-5][0-9]{_FRACTION}(?:[Zz]|[+-][0-9:]+)$"
_FORMS = {
    "date": f"^{_YEAR}-",
    "date-time": rf"^{_YEAR}-[0-9-]+[Tt]{_OF_DAY}",
    "time": f"^{_OF_DAY}",
    "duration": f"^P(?:[0-9]{{1,8}}D(?:{_CLOCK})?|{_CLOCK})$",
    "decimal": r"^-?[0-9]{1,20}(?:\.[0-9]{1,20})?$",
    "base64": "^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$",
}
"""Patterns by the format or encoding that a type's schema names. They allow only what Python's types can hold: nothing
finer than microseconds, no year 0, no leap seconds, and no years or weeks in a duration."""
_UNKNOWN_TO_GRAMMARS = ("decimal", "base64")


def with_patterns(schema: Any) -> Any:
    """The schema, with patterns for strings of these forms."""
    if isinstance(schema, list):
        return [with_patterns(item) for item in cast("list[Any]", schema)]
    if not isinstance(schema, dict):
        return schema
    made = {key: with_patterns(value) for key, value in cast("dict[str, Any]", schema).items()}
    form = made.get("format", made.get("contentEncoding"))
    if made.get("type") == "string" and form in _FORMS:
        made["pattern"] = _FORMS[form]
        if form in _UNKNOWN_TO_GRAMMARS:
            made.pop("format", None)
    return made


def check_enforceable(target: Any) -> None:
    """Raises InvalidTypeError, with the path, for a type whose schema does not describe the strings msgspec reads."""
    for path, part in _all_parts(target):
        instead = _instead(part)
        if instead:
            name = type(part).__name__.removesuffix("Type")
            raise InvalidTypeError(f"schema: {path}: a {name} cannot be enforced as it is", hint=instead)


def with_repeatable_sets(schema: Any, target: Any) -> Any:
    """The schema, with the sets of the type allowed to repeat members, which parsing drops."""
    said = any(isinstance(part, inspect.Metadata) and _says_unique(part) for _, part in _all_parts(target))
    return schema if said else _with_repeatable_sets(schema)


def _says_unique(part: inspect.Metadata) -> bool:
    return "uniqueItems" in cast("dict[str, Any]", part.extra_json_schema or {})  # pyright: ignore[reportUnknownMemberType]


def _with_repeatable_sets(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_with_repeatable_sets(item) for item in cast("list[Any]", schema)]
    if not isinstance(schema, dict):
        return schema
    fields = cast("dict[str, Any]", schema)
    return repeatable_set({key: _with_repeatable_sets(value) for key, value in fields.items()})


def repeatable_set(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema of a set as that of a list, unless it must have several members: repeated ones would be too few."""
    is_set = schema.get("uniqueItems") is True and schema.get("minItems", 0) <= 1
    return {key: value for key, value in schema.items() if not (is_set and key == "uniqueItems")}


def _all_parts(target: Any) -> Iterator[tuple[str, inspect.Type]]:
    waiting, seen = [("$", inspect.type_info(target))], set[int]()
    while waiting:
        path, part = waiting.pop()
        if id(part) not in seen:
            seen.add(id(part))
            yield path, part
            waiting += _parts(part, path)


def _instead(part: inspect.Type) -> str:
    """What to use instead of a type that cannot be enforced; "" for one that can."""
    match part:
        case inspect.DateTimeType(tz=tz) | inspect.TimeType(tz=tz) if tz is not True:
            return "annotate it with msgspec.Meta(tz=True) for a time with its zone, or use a str with a pattern"
        case (
            inspect.BytesType(min_length=low, max_length=high)
            | inspect.ByteArrayType(min_length=low, max_length=high)
            | inspect.MemoryViewType(min_length=low, max_length=high)
        ) if (low, high) != (None, None):
            return "leave the number of bytes open, or use a str with a pattern"
        case inspect.DictType(key_type=key) if not isinstance(key, inspect.StrType | inspect.AnyType):
            return "use str for the keys"
        case _:
            return ""


def _parts(part: inspect.Type, path: str) -> Iterator[tuple[str, inspect.Type]]:
    match part:
        case inspect.Metadata(type=inner, extra_json_schema=None):
            yield path, inner
        case inspect.UnionType(types=types):
            yield from ((path, inner) for inner in types)
        case inspect.CollectionType(item_type=inner) | inspect.DictType(value_type=inner):
            yield f"{path}[]", inner
        case inspect.TupleType(item_types=types):
            yield from ((f"{path}[{place}]", inner) for place, inner in enumerate(types))
        case _:
            fields = cast("tuple[inspect.Field, ...]", getattr(part, "fields", ()))
            yield from ((f"{path}.{field.encode_name}", field.type) for field in fields)
