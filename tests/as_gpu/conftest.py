"""The branches that a GPU takes, with a CPU as device: layout of the pool, attention, sampling, masks.

Weights stay in float32: MLX's CPU backend multiplies few kinds of half precision.
"""

from collections.abc import Iterator
from contextlib import ExitStack, nullcontext
from unittest.mock import patch

import mlx.core as mx
import pytest

from pie_mlx.engine.model import gating, paged_network, weights
from pie_mlx.metal import arrays
from tests.engine.conftest import engine, one_step_at_a_time
from tests.engine.running import Running, engine_alone

__all__ = ["engine", "one_step_at_a_time"]


@pytest.fixture(scope="package", autouse=True)
def _as_on_a_gpu() -> Iterator[None]:
    with ExitStack() as stack:
        stack.enter_context(patch.object(arrays, "default_device", lambda: mx.gpu))
        stack.enter_context(patch.object(weights, "on_cpu", lambda: True))
        # Models that other tests have loaded left these installed.
        stack.enter_context(patch.object(gating, "gating", nullcontext))
        stack.enter_context(patch.object(paged_network, "rotating", nullcontext))
        yield


@pytest.fixture(scope="package")
def shared_engine(_as_on_a_gpu: None) -> Iterator[Running]:
    with engine_alone() as started:
        yield started
