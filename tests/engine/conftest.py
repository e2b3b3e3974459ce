"""One engine for all tests that do not need a pool of their own size."""

from collections.abc import Iterator

import pytest

from pie_mlx.engine.handlers.forward import continuation
from tests.engine.running import Running, engine_alone


@pytest.fixture(scope="session")
def shared_engine() -> Iterator[Running]:
    with engine_alone() as started:
        yield started


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
