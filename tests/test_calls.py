"""Nothing but data crosses the border: every call and every reply survives msgpack."""

import typing
from itertools import combinations

import msgspec
import pytest

from pie_mlx import calls
from pie_mlx.engine.handlers import handlers, lookups, process_handlers

CALLS = sorted(
    (kind for kind in vars(calls).values() if isinstance(kind, type) and calls.Call in kind.__bases__),
    key=lambda kind: kind.__name__,
)

EXAMPLES = {str: "text", int: 3, float: 0.5, bool: True, bytes: b"\x00\xff"}


def example(kind: typing.Any) -> typing.Any:
    """Some value of a field's type."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Literal:
        return arguments[0]
    if origin is list:
        return [example(arguments[0])]
    if origin is tuple:
        return tuple(example(argument) for argument in arguments)
    if origin is dict:
        return {example(arguments[0]): example(arguments[1])}
    if arguments:
        return example(next(argument for argument in arguments if argument is not type(None)))
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        hints = typing.get_type_hints(kind)
        return kind(**{field.name: example(hints[field.name]) for field in msgspec.structs.fields(kind)})
    return EXAMPLES[kind]


@pytest.mark.parametrize("kind", CALLS)
def test_a_call_survives_the_wire(kind: type[msgspec.Struct]) -> None:
    call = example(kind)
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(call), type=kind) == call


@pytest.mark.parametrize("kind", CALLS)
def test_a_reply_survives_the_wire(kind: type[msgspec.Struct]) -> None:
    reply_type = typing.get_args(kind.__orig_bases__[0])[0]  # type: ignore[attr-defined]
    if isinstance(reply_type, typing.ForwardRef):
        reply_type = vars(calls)[reply_type.__forward_arg__]
    reply = None if reply_type in (None, type(None)) else example(reply_type)
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(reply), type=reply_type) == reply


def test_the_engine_answers_every_call() -> None:
    tables = [handlers, lookups, process_handlers]
    assert set().union(*tables) == set(CALLS)
    assert not any(one.keys() & other.keys() for one, other in combinations(tables, 2))


def test_calls_are_told_apart_by_their_tag() -> None:
    tags = [kind.__struct_config__.tag for kind in CALLS]
    assert len(set(tags)) == len(tags)
