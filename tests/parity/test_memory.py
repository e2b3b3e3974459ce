"""Decoding through the pages copies nothing that it should write in place."""

from collections.abc import Callable
from pathlib import Path

import mlx.core as mx
import pytest

from benchmarks.driving import Driver, Work
from pie_mlx.engine.model.loading.load import load_model
from tests.addresses import addresses

POOL_PAGES = 4096


@pytest.fixture
def driver(tiny_model_directory: Callable[[str], Path]) -> Driver:
    model = load_model(str(tiny_model_directory("qwen3")), name="tiny")
    model.allocate(pages=POOL_PAGES)
    return Driver(model)


def test_no_step_moves_the_pool(driver: Driver) -> None:
    before = addresses(driver.model.pool.arrays())
    contexts = [driver.context() for _ in range(5)]
    driver.run([Work(context, range(3, 40)) for context in contexts])
    contexts.append(driver.fork(contexts[0]))
    for step in range(40):
        chunk = [Work(driver.context(), range(1, 20))] if step % 8 == 0 else []
        driver.run([*(Work(context, [step]) for context in contexts), *chunk])
        assert addresses(driver.model.pool.arrays()) == before


def test_a_step_takes_less_memory_than_one_array_of_the_pool(driver: Driver) -> None:
    contexts = [driver.context() for _ in range(5)]
    driver.run([Work(context, range(3, 40)) for context in contexts])
    driver.run([Work(context, [1]) for context in contexts])
    held = mx.get_active_memory()
    mx.reset_peak_memory()
    for step in range(20):
        driver.run([Work(context, [step]) for context in contexts])
    assert mx.get_peak_memory() - held < driver.model.pool.arrays()[0].nbytes
