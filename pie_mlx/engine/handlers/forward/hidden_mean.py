"""The mean of the hidden states of a pass, which may be computed in several chunks."""

from collections.abc import Sequence

import numpy as np

from pie_mlx.calls import AnyResult, Forward, HiddenMean, HiddenStateValues
from pie_mlx.engine.model.runner.batch import LogitsRequest


def mean_reads(call: Forward) -> list[LogitsRequest]:
    """One read for each input that the mean is of; it is one sum, as the same probe is in all of them."""
    probe = HiddenMean()
    return [LogitsRequest(index, probe) for index in range(call.slots[0].index, len(call.tokens))]


def mean_of(results: Sequence[AnyResult]) -> AnyResult:
    """The mean, from the sums of the chunks."""
    sums = [one.values for one in results if isinstance(one, HiddenStateValues) and one.values]
    return HiddenStateValues((np.sum(np.array(sums), axis=0) / len(results)).astype(np.float32).tolist())
