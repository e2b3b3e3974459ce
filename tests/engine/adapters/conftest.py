"""An engine, and adapters to load into it."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pie_mlx import calls
from tests.engine.adapters.folders import random_pairs, write_mlx_lm, write_peft
from tests.engine.running import Running, engine_alone


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Callable[[int], Path]:
    """The folder of adapter `number`; even ones are PEFT's, odd ones mlx-lm's."""
    root = tmp_path_factory.mktemp("adapters")

    def find(number: int) -> Path:
        path = root / str(number)
        if not path.exists():
            write = write_mlx_lm if number % 2 else write_peft
            rank = 2 + number % 4
            write(path, random_pairs(number, rank=rank), rank=rank)
        return path

    return find


@pytest.fixture(scope="package")
def adapter_engine() -> Iterator[Running]:
    with engine_alone() as started:
        yield started


@pytest.fixture
def engine(adapter_engine: Running) -> Iterator[Running]:
    """An engine with a program of its own, which ends without adapters: those outlive programs."""
    core = adapter_engine.core
    with adapter_engine.process() as host:
        yield Running(core, adapter_engine.events, host, adapter_engine.parts)
        for adapter in core.services.adapters.all():
            with adapter_engine.process(adapter.username) as owner:
                owner.call(calls.DestroyAdapter(adapter.id))
    assert core.services.runner.model.adapters.versions == set()
    adapter_engine.check_books()
