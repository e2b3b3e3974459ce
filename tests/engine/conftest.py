"""One engine of each model for all tests that do not need a pool of their own size."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pie_mlx.engine.handlers.forward import continuation
from tests.engine.running import CHOSEN, Running, engine_alone


@pytest.fixture(scope="module")
def random_model(tiny_model_directory: Callable[[str], Path]) -> Iterator[None]:
    """Engines of this module have random weights in half of pie-tiny's layers: they write more different tokens, in
    half of the time, where the text does not matter."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(CHOSEN, "model", str(tiny_model_directory("qwen3")))
        yield


@pytest.fixture(scope="session")
def engine_of_pie_tiny() -> Iterator[Running]:
    with engine_alone(model="pie-tiny") as started:
        yield started


@pytest.fixture(scope="session")
def engine_of_random_weights(tiny_model_directory: Callable[[str], Path]) -> Iterator[Running]:
    with engine_alone(model=str(tiny_model_directory("qwen3"))) as started:
        yield started


@pytest.fixture(scope="module")
def shared_engine(request: pytest.FixtureRequest) -> Running:
    return request.getfixturevalue("engine_of_random_weights" if CHOSEN else "engine_of_pie_tiny")


@pytest.fixture
def engine(shared_engine: Running) -> Iterator[Running]:
    """The shared engine with a program of its own, whose pages must all come back."""
    before = shared_engine.used_pages()
    with shared_engine.process() as host:
        yield Running(shared_engine.core, shared_engine.events, host, shared_engine.parts)
    assert shared_engine.used_pages() == before
    shared_engine.check_books()


@pytest.fixture
def one_step_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs that go step by step are not given several steps at once."""
    monkeypatch.setattr(continuation, "LONGEST_SECONDS", 0.0)
