"""MLX operations write the pool in place on a GPU, too, where completion handlers hold what a step has read."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from unittest.mock import patch

import mlx.core as mx
import pytest
from msgspec.structs import replace

from pie_mlx.calls import Sampler
from pie_mlx.engine.kv import PageCopy
from pie_mlx.engine.model import loaded
from pie_mlx.engine.model.loaded import LoadedModel
from pie_mlx.engine.model.loading.load import load_model
from pie_mlx.engine.model.parts import in_one
from pie_mlx.engine.model.runner.batch import Batch, BatchEntry, LogitsRequest
from pie_mlx.engine.model.runner.runner import Runner
from pie_mlx.metal.page_pool import pool
from tests.addresses import addresses
from tests.models import write_tiny_model

PAGE_SIZE, TABLES = 16, ([0, 1, 2, 3], [9, 4, 7, 12])


class Handlers:
    """Hold every array of a pool from each evaluation until the device is waited for."""

    def __init__(self, model: LoadedModel) -> None:
        self._model = model
        self._held: list[mx.array] = []

    def hold(self) -> None:
        views = [array[None] for array in self._model.pool.arrays()]
        mx.eval(views)
        self._held += views

    def let_go(self) -> None:
        self._held.clear()


@pytest.fixture
def model(tmp_path: Path) -> Iterator[LoadedModel]:
    model = load_model(str(write_tiny_model(tmp_path / "model", "llama", num_hidden_layers=6)), name="tiny")
    model.allocate(pages=16)
    handlers, synchronize = Handlers(model), mx.synchronize

    def held(evaluate: Callable[..., None]) -> Callable[..., None]:
        def then_hold(*values: object) -> None:
            evaluate(*values)
            handlers.hold()

        return then_hold

    def wait() -> None:
        synchronize()
        handlers.let_go()

    with ExitStack() as stack:
        for module, name in ((loaded, "evaluate"), (loaded, "begin_evaluation"), (pool, "evaluate")):
            stack.enter_context(patch.object(module, name, held(getattr(module, name))))
        stack.enter_context(patch.object(mx, "synchronize", wait))
        yield model


def entry(context: int, tokens: range, held: int, further: int = 0) -> BatchEntry:
    """`tokens` after `held` others, with slots for `further` ones; draws the most likely token after them."""
    table, length = TABLES[context], held + len(tokens)
    places = range(held, length + further)
    slots = [table[place // PAGE_SIZE] * PAGE_SIZE + place % PAGE_SIZE for place in places]
    reads = (LogitsRequest(len(tokens) - 1, Sampler.argmax()),)
    count = len(tokens)
    return BatchEntry(
        context, tokens, places[:count], slots[:count], table, length, reads=reads, further_slots=slots[count:]
    )


async def test_nothing_of_the_pool_is_copied(model: LoadedModel) -> None:
    runner = Runner()
    await runner.load(in_one(lambda: model))
    before = await runner.move_pages(lambda pool: addresses(pool.arrays()))
    await runner.run(Batch((entry(0, range(5, 25), 0),)))
    await runner.run(Batch((entry(1, range(7, 20), 0),)))
    for step in range(3):
        outcome = await runner.run(Batch((entry(0, range(1), 20 + 2 * step, 1), entry(1, range(1), 13 + 2 * step, 1))))
        assert [row.context for row in outcome.in_flight] == [0, 1]
        claimed = [replace(row, reads=(LogitsRequest(0, Sampler.argmax()),)) for row in outcome.in_flight]
        await runner.run(Batch(tuple(claimed), (PageCopy(1, 13, 5),), claims=True))
    content = await runner.move_pages(lambda pool: pool.read_pages([9, 4]))
    await runner.move_pages(lambda pool: pool.write_pages([7, 12], content))
    assert await runner.move_pages(lambda pool: addresses(pool.arrays())) == before
    runner.close()
