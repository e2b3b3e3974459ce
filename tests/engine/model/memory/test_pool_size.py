"""How many pages the memory allows, beside everything else."""

from collections.abc import Iterator
from dataclasses import dataclass

import mlx.core as mx
import pytest

from pie_mlx.backends import Backend, using
from pie_mlx.engine.model.memory import pool_pages, state_pages
from pie_mlx.errors import OutOfPagesError
from pie_mlx.metal import LayerShape

GIB = 1 << 30
LAYERS = [LayerShape(8, 128, 128)] * 32
PAGE = 16 * 32 * 8 * 256 * 2


@dataclass(frozen=True)
class Card:
    dtype: mx.Dtype = mx.bfloat16
    weight_bytes: int = 4 * GIB
    maximum_positions: int = 8192


class Mac(Backend):
    """A GPU, and 16 GiB for it."""

    def memory_bytes(self) -> int:
        return 16 * GIB


@pytest.fixture(autouse=True)
def mac() -> Iterator[None]:
    with using(Mac()):
        yield


def pages(wanted: int | None = None, *, step: int = GIB, card: Card | None = None) -> int:
    return pool_pages(card or Card(), LAYERS, wanted, 16, 0.8, 2 * GIB, step)


def test_states_of_as_many_contexts_as_can_be_in_the_pool_fit_beside_it() -> None:  # P16
    state = 64 * GIB // 1024
    price = state_pages(PAGE, state, 100, GIB)
    found = pool_pages(Card(), LAYERS, None, 16, 0.8, 2 * GIB, 0, state)
    assert price == 32
    assert found * PAGE + found / (price + 1) * state <= pages(step=0) * PAGE
    assert found == pytest.approx(pages(step=0) * 33 / 65, abs=3)


def test_where_pages_take_nothing_the_price_bounds_the_states_by_the_memory() -> None:
    assert state_pages(0, GIB, 1000, 10 * GIB) == 100
    assert state_pages(0, 1, 1000, 10 * GIB) == 1
    assert state_pages(0, 20 * GIB, 1000, 10 * GIB) == 1000
    assert state_pages(PAGE, 0, 1000, GIB) == 0


def test_the_largest_step_is_taken_from_what_the_pool_may_take() -> None:
    without, beside = pages(step=0), pages(step=GIB)
    assert without - beside == pytest.approx(0.8 * GIB / PAGE, abs=2)


def test_a_copy_of_the_longest_context_has_room_in_three_layers() -> None:
    copied = 512 * PAGE * 3 // 32
    assert pages() * PAGE + copied <= 0.8 * (16 - 4 - 1) * GIB - 2 * GIB
    assert (pages() + 2) * PAGE + copied > 0.8 * (16 - 4 - 1) * GIB - 2 * GIB


def test_no_copy_is_longer_than_the_pool() -> None:
    found = pages(card=Card(maximum_positions=1 << 20))
    assert found * (PAGE + PAGE * 3 // 32) == pytest.approx(0.8 * 11 * GIB - 2 * GIB, rel=1e-3)


def test_a_number_of_pages_that_leaves_no_room_for_a_step_is_refused_with_the_numbers() -> None:
    fitting = pages(3800)
    with pytest.raises(OutOfPagesError, match=r"1\.09 GiB for the largest step and 2\.00 GiB of headroom") as raised:
        pages(fitting + 900)
    assert raised.value.capacity >= fitting
