"""Calls, replies and their defaults as JavaScript: types for editors, and functions that complete replies."""

import inspect
from collections.abc import Iterable, Iterator
from typing import ForwardRef, get_args

import msgspec
from msgspec import NODEFAULT
from msgspec import inspect as types

from pie_mlx import calls
from pie_mlx.calls import Call
from tools.javascript.files import GENERATED, comment

_INTS = """\
/** Whole numbers as a call takes them. @typedef {readonly number[] | Uint32Array} Ints */
"""
_COMPLETING = """\
/** @import {{ {names} }} from './types.mjs' */

/** @typedef {{(found: any) => any}} Completing */

/** @param {{Completing}} one @returns {{Completing}} */
const optional = (one) => (found) => (found == null ? null : one(found));

/** @param {{Completing}} one @returns {{Completing}} */
const each = (one) => (found) => found.map(one);

/** @param {{string}} field @param {{Record<string, Completing>}} kinds @returns {{Completing}} */
const byTag = (field, kinds) => (found) => (kinds[found[field]] ?? ((same) => same))(found);
"""
_COMPLETE = """\
/**
 * What completes a reply, by the call that it answers: the wire leaves out fields that have their default.
 * @type {Record<string, Completing>}
 */
export const COMPLETE = {"""


def types_module() -> str:
    """`types.mjs`: a type for each call and record."""
    replies = _replies()
    parts = [GENERATED, _INTS]
    parts += [_typedef(struct, complete=True) for struct in _structs(replies.values()).values()]
    parts += [_typedef(struct, complete=False) for struct in _structs(map(types.type_info, replies)).values()]
    return "\n".join([*parts, _table(replies), "export {};\n"])


def complete_module() -> str:
    """`complete.mjs`: the functions that complete replies."""
    replies = _replies()
    structs = [struct for struct in _structs(replies.values()).values() if _function(struct)]
    rows = [f"  {_tag(kind)}: {made}," for kind, reply in replies.items() if (made := _function(reply))]
    head = _COMPLETING.format(names=", ".join(struct.cls.__name__ for struct in structs))
    return "\n".join([GENERATED, head, *map(_completion, structs), _COMPLETE, *rows, "};\n"])


def _replies() -> dict[type, types.Type]:
    """Every call, and the type of its reply."""
    exported = [value for name in calls.__all__ if isinstance(value := getattr(calls, name), type)]
    return {kind: types.type_info(_reply(kind)) for kind in exported if Call in kind.__bases__}


def _reply(kind: type) -> object:
    (reply,) = get_args(vars(kind)["__orig_bases__"][0])
    return getattr(calls, reply.__forward_arg__) if isinstance(reply, ForwardRef) else reply


def _structs(roots: Iterable[types.Type]) -> dict[str, types.StructType]:
    """All structs below some types, by name, each after those it is made of."""
    found: dict[str, types.StructType] = {}

    def visit(part: types.Type) -> None:
        if isinstance(part, types.StructType):
            if part.cls.__name__ not in found:
                for field in part.fields:
                    visit(field.type)
                found[part.cls.__name__] = part
        else:
            for inner in _inside(part):
                visit(inner)

    for root in roots:
        visit(root)
    return found


def _inside(part: types.Type) -> Iterator[types.Type]:
    match part:
        case types.UnionType(types=parts) | types.TupleType(item_types=parts):
            yield from parts
        case types.CollectionType(item_type=inner) | types.DictType(value_type=inner):
            yield inner
        case _:
            return


def _tag(kind: type) -> str:
    return str(types.type_info(kind).tag)  # pyright: ignore[reportAttributeAccessIssue]


def _typedef(struct: types.StructType, *, complete: bool) -> str:
    """A record as a reply has it, complete, or as a program sends it, where fields with defaults may be missing."""
    name = struct.cls.__name__
    lines = [*(inspect.getdoc(struct.cls) or "").splitlines()]
    lines.append(f"@typedef {{object}} {name if complete else f'Sent{name}'}")
    if struct.tag is not None and struct.tag_field != "call":
        lines.append(f"@property {{'{struct.tag}'}} {struct.tag_field}")
    for field in struct.fields:
        shown = field.encode_name if complete or field.required else f"[{field.encode_name}]"
        lines.append(f"@property {{{_type(field.type, sent=not complete)}}} {shown}")
    return comment("\n".join(lines)) + "\n"


def _type(part: types.Type, *, sent: bool) -> str:
    match part:
        case types.IntType():
            return "number | bigint" if sent else "number"
        case types.FloatType():
            return "number"
        case types.StrType():
            return "string"
        case types.BoolType():
            return "boolean"
        case types.BytesType():
            return "Uint8Array"
        case types.NoneType():
            return "null"
        case types.LiteralType(values=values):
            return " | ".join(f"'{value}'" for value in values)
        case types.StructType(cls=kind):
            return f"Sent{kind.__name__}" if sent else kind.__name__
        case types.UnionType(types=parts):
            return " | ".join(dict.fromkeys(_type(inner, sent=sent) for inner in parts))
        case types.TupleType(item_types=parts):
            return f"[{', '.join(_type(inner, sent=False) for inner in parts)}]"
        case types.CollectionType(item_type=types.IntType()) if sent:
            return "Ints"
        case types.CollectionType(item_type=inner):
            return f"readonly ({_type(inner, sent=sent)})[]" if sent else f"({_type(inner, sent=sent)})[]"
        case types.DictType(value_type=inner):
            return f"Record<string, {_type(inner, sent=sent)}> | ReadonlyMap<number, {_type(inner, sent=sent)}>"
    raise NotImplementedError(part)


def _table(replies: dict[type, types.Type]) -> str:
    rows = [
        f"{_tag(kind)}: {{ fields: Sent{kind.__name__}, reply: {_type(reply, sent=False)} }},"
        for kind, reply in replies.items()
    ]
    lines = ["Fields and reply of each call, by its name.", "@typedef {{", *(f"  {row}" for row in rows), "}} Calls"]
    return comment("\n".join(lines)) + "\n"


def _completion(struct: types.StructType) -> str:
    name = struct.cls.__name__
    completed = {
        field.encode_name: f"{made}({_value(field)})" for field in struct.fields if (made := _function(field.type))
    }
    defaults = [field for field in struct.fields if not field.required and field.encode_name not in completed]
    lines = [comment(f"@param {{any}} found @returns {{{name}}}"), f"function complete{name}(found) {{", "  return {"]
    lines += [f"    {field.encode_name}: {_literal(field)}," for field in defaults]
    lines += ["    ...found,", *(f"    {field}: {value}," for field, value in completed.items())]
    return "\n".join([*lines, "  };", "}", ""])


def _value(field: types.Field) -> str:
    """The value of a field as it was received, where a missing one is its default."""
    path = f"found.{field.encode_name}"
    return path if field.required else f"{path} ?? {_literal(field)}"


def _literal(field: types.Field) -> str:
    default = field.default if field.default is not NODEFAULT else field.default_factory()  # pyright: ignore[reportCallIssue]
    return "new Uint8Array()" if isinstance(default, bytes) else msgspec.json.encode(default).decode().replace('"', "'")


def _function(part: types.Type) -> str:
    """The function that completes a value of a type; "" for one that is complete as it is."""
    match part:
        case types.StructType(cls=kind, fields=fields):
            parts = [field for field in fields if not field.required or _function(field.type)]
            return f"complete{kind.__name__}" if parts else ""
        case types.CollectionType(item_type=inner):
            return f"each({made})" if (made := _function(inner)) else ""
        case types.UnionType(types=parts):
            return _choice([inner for inner in parts if isinstance(inner, types.StructType) and _function(inner)])
    return ""


def _choice(structs: list[types.StructType]) -> str:
    """The function for one of several records, or for one that may be missing."""
    if not structs:
        return ""
    if structs[0].tag is None:
        return f"optional({_function(structs[0])})"
    rows = ", ".join(f"{each.tag}: {_function(each)}" for each in structs)
    return f"byTag('{structs[0].tag_field}', {{ {rows} }})"
