"""Values for hypothesis: junk, and values that fit a type but for a part of them now and then."""

import msgspec
from hypothesis import strategies as st

WORDS = ["", "dummy", "player", "demo", "a", "../x", "x@1.0.0", "\0", "é\u0301", "{}", "[1, 2]", "a" * 300]
"""Texts that mean something somewhere."""
INTEGERS = [0, 1, 2, 3, 7, 16, 255, -1, 2**31, 2**32, 2**53, 2**63 - 1, -(2**63), 2**64 - 1]
FLOATS = [0.0, 1.0, -1.0, 0.5, 1e-320, 1e300, float("inf"), float("-inf"), float("nan")]

integers = st.sampled_from(INTEGERS) | st.integers(-(2**63), 2**64 - 1)
floats = st.sampled_from(FLOATS) | st.floats()
texts = st.sampled_from(WORDS) | st.text(max_size=20)
scalars = st.none() | st.booleans() | integers | floats | texts | st.binary(max_size=20)


nothing = st.none()


@st.composite
def nested(draw, inner=nothing):
    """Lists and maps in one another around a value of `inner`, often deeper than any reader goes."""
    value = draw(inner)
    as_map = draw(st.booleans())
    for _ in range(draw(st.sampled_from([1, 15, 17, 200, 900]))):
        value = {"a": value} if as_map else [value]
    return value


junk = nested() | st.recursive(
    scalars, lambda one: st.lists(one, max_size=4) | st.dictionaries(texts, one, max_size=4), max_leaves=8
)
"""Any value that msgpack and, but for bytes, JSON can say."""


def fitting(hint):
    """Values of a type, in the form in which they are sent."""
    return _fitting(msgspec.inspect.type_info(hint))


def almost(hint):
    """Values of a struct; of most of them one field is junk, is missing, or is one too many."""
    return st.tuples(fitting(hint), st.integers(0, 4), st.integers(0, 9), junk).map(_spoilt)


def _spoilt(drawn):
    value, how, place, other = drawn
    names = sorted(name for name in value if name not in ("type", "call"))
    if how == 0 or not names:
        return value
    name = names[place % len(names)]
    if how == 1:
        return {key: one for key, one in value.items() if key != name}
    return {**value, ("unknown" if how == 2 else name): other}


def _fitting(kind):
    match kind:
        case msgspec.inspect.Metadata():
            return _fitting(kind.type)
        case msgspec.inspect.BoolType():
            return st.booleans()
        case msgspec.inspect.IntType():
            return integers
        case msgspec.inspect.FloatType():
            return floats
        case msgspec.inspect.StrType():
            return texts
        case msgspec.inspect.BytesType():
            return st.binary(max_size=20)
        case msgspec.inspect.NoneType():
            return st.none()
        case msgspec.inspect.LiteralType():
            return st.sampled_from(list(kind.values))
        case msgspec.inspect.ListType():
            return st.lists(_fitting(kind.item_type), max_size=4)
        case msgspec.inspect.VarTupleType():
            return st.lists(_fitting(kind.item_type), max_size=4)
        case msgspec.inspect.TupleType():
            return st.tuples(*map(_fitting, kind.item_types)).map(list)
        case msgspec.inspect.DictType():
            return st.dictionaries(_fitting(kind.key_type), _fitting(kind.value_type), max_size=3)
        case msgspec.inspect.UnionType():
            return st.one_of(*map(_fitting, kind.types))
        case msgspec.inspect.StructType():
            return _struct(kind)
        case _:
            return junk


def _struct(kind):
    required = {field.encode_name: _fitting(field.type) for field in kind.fields if field.required}
    optional = {field.encode_name: _fitting(field.type) for field in kind.fields if not field.required}
    values = st.fixed_dictionaries(required, optional=optional)
    return values if kind.tag is None else values.map(lambda value: {kind.tag_field: kind.tag, **value})
