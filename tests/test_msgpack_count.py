"""Values are counted without being made, exactly, and no further than is asked."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from pie_mlx.msgpack_count import Counts, block_bytes, count

EVERYTHING = Counts(1 << 40, 1 << 40)

leaves = st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats() | st.text() | st.binary()
extensions = st.builds(msgspec.msgpack.Ext, st.integers(-128, 127), st.binary(max_size=20))
messages = st.recursive(
    leaves | extensions,
    lambda inner: st.lists(inner, max_size=40) | st.dictionaries(st.text(), inner, max_size=40),
)


def counted(message):
    match message:
        case list():
            found = [counted(item) for item in message]
            return Counts(sum(one.values for one in found), 1 + sum(one.containers for one in found))
        case dict():
            inside = counted(list(message.values()))
            return Counts(len(message) + inside.values, inside.containers)
        case _:
            return Counts(1, 0)


@given(messages)
def test_every_value_is_counted_once(message):
    assert count(msgspec.msgpack.encode(message), EVERYTHING) == counted(message)


@given(st.lists(st.integers(-(2**63), 2**64 - 1), min_size=100, max_size=1000))
def test_long_lists_of_numbers_are_counted_exactly(numbers):
    assert count(msgspec.msgpack.encode([numbers, numbers]), EVERYTHING) == Counts(2 * len(numbers), 3)


def test_long_texts_and_blocks_are_one_value_each():
    for length in (31, 32, 255, 256, 65_535, 65_536):
        assert count(msgspec.msgpack.encode(["x" * length, bytes(length)]), EVERYTHING) == Counts(2, 1)


@given(st.binary())
def test_any_bytes_can_be_counted(data):
    assert count(data, EVERYTHING).values <= len(data)


def test_counting_ends_where_there_is_too_much():
    most = Counts(values=1_000, containers=10)
    assert count(msgspec.msgpack.encode([1] * 1_000_000), most).values < 1_100
    assert count(msgspec.msgpack.encode([[]] * 1_000_000), most).containers == 11


def test_a_block_of_bytes_is_found_near_the_beginning():
    data = msgspec.msgpack.encode(["call", {"config": "x" * 1000, "data": bytes(70_000)}])
    assert block_bytes(data[:2_000], 8) == 70_000
    assert block_bytes(data[:2_000], 4) == 0
    assert block_bytes(data[:1_000], 8) == 0
