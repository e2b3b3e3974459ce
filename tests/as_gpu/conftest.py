"""The branches that a GPU takes, with a CPU as device: layout of the pool, attention, sampling, masks."""

from collections.abc import Iterator

import pytest

from pie_mlx.backends import using
from tests.backends.played import PlayedGpu
from tests.engine.conftest import engine, one_step_at_a_time
from tests.engine.running import Running, engine_alone

__all__ = ["engine", "one_step_at_a_time"]


@pytest.fixture(scope="package", autouse=True)
def _as_on_a_gpu() -> Iterator[None]:
    with using(PlayedGpu()):
        yield


@pytest.fixture(scope="package")
def shared_engine(_as_on_a_gpu: None) -> Iterator[Running]:
    with engine_alone() as started:
        yield started
