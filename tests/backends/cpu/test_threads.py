"""How many threads compute the products of a step."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from pie_mlx.backends import using
from pie_mlx.backends.cpu import CpuBackend, backend
from pie_mlx.calls import Sampler
from pie_mlx.engine.model.loading.load import loading_model
from pie_mlx.engine.model.runner.batch import Batch, BatchEntry, LogitsRequest
from pie_mlx.engine.model.runner.runner import Runner


@pytest.fixture
def taken() -> Iterator[list[int]]:
    """How many threads products may take, one after the other; 0 is all."""
    noted: list[int] = []

    class Noting(CpuBackend):
        def set_threads(self, count: int) -> None:
            noted.append(count)

    with using(Noting()):
        yield noted


def prompt(tokens: Sequence[int]) -> BatchEntry:
    return BatchEntry(
        context=0,
        tokens=tokens,
        positions=range(len(tokens)),
        slots=range(len(tokens)),
        block_table=range(-(-len(tokens) // 16)),
        kv_length=len(tokens),
        reads=(LogitsRequest(len(tokens) - 1, Sampler.argmax()),),
    )


def run(directory: Path, tokens: Sequence[int]) -> None:
    async def computed() -> None:
        runner = Runner()
        model = await runner.load(loading_model(str(directory), name="tiny"))
        model.allocate(pages=16)
        await runner.run(Batch((prompt(tokens),)))
        runner.close()

    asyncio.run(computed())


def test_a_step_of_few_rows_and_small_matrices_takes_one(
    tiny_model_directory: Callable[[str], Path], taken: list[int]
) -> None:
    run(tiny_model_directory("llama"), range(5, 25))
    assert 1 in taken


def test_a_long_prompt_takes_all(tiny_model_directory: Callable[[str], Path], taken: list[int]) -> None:
    run(tiny_model_directory("llama"), range(5, 105))
    assert 1 not in taken


def test_large_matrices_take_all(
    tiny_model_directory: Callable[[str], Path], taken: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backend, "SMALL_MATRIX", 1000)
    run(tiny_model_directory("llama"), range(5, 25))
    assert 1 not in taken


def test_nothing_is_kept_from_others_after_a_step(
    tiny_model_directory: Callable[[str], Path], taken: list[int]
) -> None:
    run(tiny_model_directory("llama"), range(5, 25))
    assert taken[-1] == 0
