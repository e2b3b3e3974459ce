"""How many threads compute the products of a step."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

import mlx.core as mx
import pytest

from pie_mlx.calls import Sampler
from pie_mlx.engine.model import loaded
from pie_mlx.engine.model.batch import Batch, RowRead, Work
from pie_mlx.engine.model.loading import load_model
from pie_mlx.engine.model.runner import Runner


class Blas:
    """Notes how many threads products may take; 0 is all."""

    def __init__(self) -> None:
        self.taken: list[int] = []

    def take_threads(self, count: int) -> None:
        self.taken.append(count)


@pytest.fixture
def blas(monkeypatch: pytest.MonkeyPatch) -> Blas:
    noted = Blas()
    monkeypatch.setattr(loaded, "blas", lambda: noted)
    return noted


def prompt(tokens: Sequence[int]) -> Work:
    return Work(
        context=0,
        tokens=tokens,
        positions=range(len(tokens)),
        slots=range(len(tokens)),
        block_table=range(-(-len(tokens) // 16)),
        kv_length=len(tokens),
        reads=(RowRead(len(tokens) - 1, Sampler.argmax()),),
    )


def behind(tokens: Sequence[int]) -> Work:
    """The row that goes on with what a prompt draws."""
    length = len(tokens)
    return Work(
        context=0,
        tokens=(0,),
        positions=[length],
        slots=[length],
        block_table=range(-(-(length + 1) // 16)),
        kv_length=length + 1,
    )


def run(directory: Path, tokens: Sequence[int], *, goes_on: bool = False) -> None:
    async def computed() -> None:
        runner = Runner()
        model = await runner.load(lambda: load_model(str(directory), name="tiny"))
        model.allocate(pages=16)
        await runner.run(Batch((prompt(tokens),)), [behind(tokens)] if goes_on else [])
        runner.close()

    asyncio.run(computed())


def test_a_step_of_few_rows_and_small_matrices_takes_one(
    tiny_model_directory: Callable[[str], Path], blas: Blas
) -> None:
    run(tiny_model_directory("llama"), range(5, 25))
    assert 1 in blas.taken


def test_a_long_prompt_takes_all(tiny_model_directory: Callable[[str], Path], blas: Blas) -> None:
    run(tiny_model_directory("llama"), range(5, 105))
    assert 1 not in blas.taken


def test_large_matrices_take_all(
    tiny_model_directory: Callable[[str], Path], blas: Blas, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loaded, "SMALL_MATRIX", 1000)
    run(tiny_model_directory("llama"), range(5, 25))
    assert 1 not in blas.taken


def test_nothing_is_kept_from_others_behind_a_step(tiny_model_directory: Callable[[str], Path], blas: Blas) -> None:
    run(tiny_model_directory("llama"), range(5, 25))
    assert blas.taken[-1] == 0


def test_a_long_prompt_takes_all_also_where_a_small_step_follows(
    tiny_model_directory: Callable[[str], Path], blas: Blas, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun_with: list[int] = []
    begin = loaded.begin_evaluation

    def noted(outputs: Sequence[mx.array], pool: Sequence[mx.array]) -> None:
        begun_with.append(blas.taken[-1])
        begin(outputs, pool)

    monkeypatch.setattr(loaded, "begin_evaluation", noted)
    run(tiny_model_directory("llama"), range(5, 105), goes_on=True)
    assert begun_with[0] == 0
    assert 1 in blas.taken
