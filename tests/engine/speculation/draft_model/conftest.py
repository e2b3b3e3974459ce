"""pie-tiny with a draft model that knows everything, itself, and with one that knows nothing."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.random_llama import write_random_llama
from pie_mlx.engine.speculation.drafting import Allowance
from tests.engine.running import Running, engine_alone

SMALL = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "intermediate_size": 64,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "head_dim": 16,
    "vocab_size": 2048,
    "max_position_embeddings": 256,
}


@pytest.fixture(scope="session")
def stranger_directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small random Llama with pie-tiny's vocabulary."""
    folder = tmp_path_factory.mktemp("stranger")
    write_random_llama(folder, **SMALL)
    return folder


@pytest.fixture(scope="session")
def self_drafting_engine() -> Iterator[Running]:
    with engine_alone(draft_model="pie-tiny") as started:
        yield started


@pytest.fixture(scope="session")
def badly_drafting_engine(stranger_directory: Path) -> Iterator[Running]:
    with engine_alone(draft_model=str(stranger_directory)) as started:
        yield started


@pytest.fixture
def knowing(self_drafting_engine: Running) -> Iterator[Running]:
    """Drafts are right."""
    yield from _lent(self_drafting_engine)


@pytest.fixture
def ignorant(badly_drafting_engine: Running) -> Iterator[Running]:
    """Drafts are wrong."""
    yield from _lent(badly_drafting_engine)


def _lent(engine: Running) -> Iterator[Running]:
    """With a program of its own, of which nothing must be left, with either model, and leave to guess."""
    desk = engine.core.services.drafts.model
    assert desk is not None
    desk.allowance = Allowance()
    with engine.process() as host:
        yield Running(engine.core, engine.events, host)
    engine.check_books()
    assert (len(desk.sequences), desk.sequences.used_pages) == (0, 0)
