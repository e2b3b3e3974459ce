"""The largest numbers of a row are those that a sort finds, in groups or not."""

import mlx.core as mx
import numpy as np
import pytest

from pie_mlx.engine.model.likeliest import GROUP, likeliest

COUNT = 8


@pytest.mark.parametrize("width", [COUNT, GROUP * COUNT, GROUP * (COUNT + 1), GROUP * (COUNT + 1) + 1, 100 * GROUP])
@pytest.mark.parametrize("distinct", [3, 10_000])
def test_the_largest_numbers_are_those_of_a_sort(width: int, distinct: int) -> None:
    rows = np.random.default_rng(width).integers(distinct, size=(3, width)).astype(np.float32)
    rows[1, width // 2 :] = -np.inf
    found = np.array(likeliest(mx.array(rows), COUNT))
    assert (np.diff(found.astype(int)) > 0).all()
    largest = -np.sort(-rows, axis=-1)[:, :COUNT]
    np.testing.assert_array_equal(-np.sort(-np.take_along_axis(rows, found, axis=-1), axis=-1), largest)
