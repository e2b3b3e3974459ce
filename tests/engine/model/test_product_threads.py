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
from pie_mlx.engine.model.product_threads import ALL, ONE, ProductThreads
from pie_mlx.engine.model.runner import Runner
from pie_mlx.sdk import Context
from tests.engine.running import running


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

    def noted(outputs: Sequence[mx.array]) -> None:
        begun_with.append(blas.taken[-1])
        begin(outputs)

    monkeypatch.setattr(loaded, "begin_evaluation", noted)
    run(tiny_model_directory("llama"), range(5, 105), goes_on=True)
    assert begun_with[0] == 0
    assert 1 in blas.taken


def steps_taken(threads: ProductThreads, count: int, row_seconds: dict[int, float]) -> list[int]:
    """What so many steps of 100 rows took, where a row takes that long with ALL and with ONE."""
    taken: list[int] = []
    for _ in range(count):
        taken.append(threads.take(100))
        threads.observe(taken[-1], 100, 100 * row_seconds[taken[-1]])
    return taken


def test_long_steps_take_one_thread_where_several_wait_for_each_other() -> None:
    taken = steps_taken(ProductThreads(), 100, {ALL: 0.01, ONE: 0.001})
    assert taken.count(ONE) >= 95


def test_a_quiet_machine_keeps_all_threads_and_seldom_tries_one() -> None:
    taken = steps_taken(ProductThreads(), 340, {ALL: 0.001, ONE: 0.0018})
    assert 1 <= taken.count(ONE) <= 8


def test_a_small_difference_changes_nothing() -> None:
    threads = ProductThreads()
    steps_taken(threads, 100, {ALL: 0.0011, ONE: 0.001})
    assert threads.better(100) == ALL


def test_all_threads_come_back_when_the_machine_is_quiet_again() -> None:
    threads = ProductThreads()
    steps_taken(threads, 40, {ALL: 0.004, ONE: 0.001})
    assert threads.better(100) == ONE
    steps_taken(threads, 300, {ALL: 0.0005, ONE: 0.001})
    assert threads.better(100) == ALL


def test_steps_of_few_rows_say_nothing_else_than_those_of_many() -> None:
    """A quiet machine: what steps took with one thread (12 matrices of 1024 x 4096), and a tenth less with all."""
    milliseconds = {1: 31.5, 4: 30.2, 16: 40.4, 64: 92.5, 512: 581.1}
    rows_of_steps = [1] * 39 + [512] * 60 + [4] * 40 + [64] * 40
    threads, taken = ProductThreads(), list[int]()
    for rows in rows_of_steps:
        taken.append(threads.take(rows))
        threads.observe(taken[-1], rows, milliseconds[rows] * (0.9 if taken[-1] == ALL else 1.0))
    assert taken.count(ONE) <= len(taken) / 20


def test_a_first_step_that_takes_long_tells_nothing() -> None:
    threads = ProductThreads()
    threads.observe(threads.take(100), 100, 10.0)
    assert steps_taken(threads, 100, {ALL: 0.001, ONE: 0.0018}).count(ONE) <= 3


def test_what_is_only_foreseen_tries_nothing() -> None:
    threads = ProductThreads()
    steps_taken(threads, 2, {ALL: 0.001, ONE: 0.001})
    assert [threads.better(100) for _ in range(100)] == [ALL] * 100
    assert threads.take(100) == ONE


def test_steps_that_fail_tell_nothing_and_break_nothing() -> None:
    threads = ProductThreads()
    for _ in range(5):
        threads.take(100)
    threads.observe(threads.take(100), 100, 1.0)
    assert ALL in steps_taken(threads, 5, {ALL: 0.001, ONE: 0.001})


@pytest.mark.parametrize("architecture", ["llama", "gemma2"])
async def test_steps_that_nobody_times_try_nothing(
    tiny_model_directory: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch, architecture: str
) -> None:
    """Of those that follow a batch at once, gemma2's are each built when the one before is computed."""
    tried: list[int] = []
    take = ProductThreads.take

    def noted(threads: ProductThreads, rows: int) -> int:
        tried.append(take(threads, rows))
        return tried[-1]

    monkeypatch.setattr(loaded, "SMALL_MATRIX", 1000)
    monkeypatch.setattr(ProductThreads, "take", noted)
    with running(model=str(tiny_model_directory(architecture))) as engine:
        drawn = await engine.greedy(Context(engine.model).append([5, 6, 7]), 30)
    assert len(drawn) == 30
    assert ONE not in tried
