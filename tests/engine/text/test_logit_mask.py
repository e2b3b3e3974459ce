"""Masks over the vocabulary, which come from strangers."""

import numpy as np
import pytest

from pie_mlx.engine.text.logit_mask import allows, pack_runs
from pie_mlx.errors import InvalidArgumentError

VOCABULARY = 70


def test_what_runs_allow_is_packed_and_the_rest_is_forbidden():  # F9, F13
    mask = pack_runs([0, 2, 31, 0, 1, 4], VOCABULARY)
    assert [token for token in range(VOCABULARY) if allows(mask, token)] == [0, 1, 34, 35, 36, 37]
    assert mask.dtype == np.uint32


@pytest.mark.parametrize(
    "runs",
    [
        [0, *[2**62] * 4],  # sums of 64 bits wrap to 0
        [2**63, 2**63],
        [0, 2**64 - 1],
        [2**64 - 1, 1 + VOCABULARY],
        [0, VOCABULARY + 1],
        [3, -1],
        [-(2**63), 2**63],
        [0] * (2 * VOCABULARY + 2),
    ],
)
def test_runs_that_do_not_fit_are_refused_before_anything_is_made_of_them(runs: list[int]):  # F9, F13
    with pytest.raises(InvalidArgumentError, match="logit mask"):
        pack_runs(runs, VOCABULARY)
