"""The state of a context as bytes: what comes back is what was written, or nothing."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pie_mlx.engine.paging.spill.state_record import HostState, StateName, packed_state, unpacked_state

NAME = StateName(b"model", 96, b"key")


def state() -> HostState:
    """A layer with a window of bfloat16 bits and a matrix, one that has not begun, one with one part."""
    random = np.random.default_rng(0)
    window = random.integers(0, 2**16, (1, 3, 8), np.uint16)
    return [
        [(window, "bfloat16"), (random.standard_normal((1, 2, 4, 4), np.float32), "float32")],
        [None, None],
        [(window[:, :1], "bfloat16")],
    ]


def test_a_state_comes_back_bit_for_bit_although_more_lies_after_it() -> None:
    found = unpacked_state(NAME, packed_state(NAME, state()) + b"rest of a page")
    assert found is not None
    for layer, expected in zip(found, state(), strict=True):
        for part, wanted in zip(layer, expected, strict=True):
            assert (part is None) == (wanted is None)
            if part is not None and wanted is not None:
                np.testing.assert_array_equal(part[0], wanted[0])
                assert (part[0].dtype, part[1]) == (wanted[0].dtype, wanted[1])


@pytest.mark.parametrize(
    "other", [StateName(b"another", 96, b"key"), StateName(b"model", 95, b"key"), StateName(b"model", 96, b"yek")]
)
def test_a_state_of_something_else_is_none(other: StateName) -> None:
    assert unpacked_state(other, packed_state(NAME, state())) is None


@settings(max_examples=60)
@given(st.data())
def test_a_damaged_record_is_none(data: st.DataObject) -> None:
    record = bytearray(packed_state(NAME, state()))
    if data.draw(st.booleans()):
        place = data.draw(st.integers(0, len(record) - 1))
        record[place] ^= data.draw(st.integers(1, 255))
    else:
        del record[data.draw(st.integers(0, len(record) - 1)) :]
    assert unpacked_state(NAME, bytes(record)) is None
