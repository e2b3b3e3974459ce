"""Which draft models are refused, and how two models share the memory."""

from collections.abc import Callable
from pathlib import Path

import pytest

from pie_mlx.engine.model.loaded import LoadedModel
from pie_mlx.engine.model.loading.load import load_model
from pie_mlx.engine.speculation.draft_model.loading import allocate_together, load_draft_model
from pie_mlx.errors import ModelLoadError, ModelNotFoundError, OutOfPagesError
from tests.engine.running import running

Directories = Callable[[str], Path]


def load(reference: str, target: LoadedModel) -> LoadedModel:
    return load_draft_model(reference, target, dtype="auto", progress=lambda line: None, allow_download=False)


@pytest.fixture(scope="module")
def target() -> LoadedModel:
    return load_model("pie-tiny", name="pie-tiny")


def test_another_vocabulary_is_refused(target: LoadedModel, tiny_model_directory: Directories) -> None:
    with pytest.raises(ModelLoadError, match="its vocabulary is not that of pie-tiny: 320 tokens") as raised:
        load(str(tiny_model_directory("llama")), target)
    assert "same tokenizer" in str(raised.value.hint)


def test_no_draft_model_guesses_for_layers_that_cannot_take_tokens_back(
    tiny_model_directory: Directories,
) -> None:
    recurrent = load_model(str(tiny_model_directory("baichuan_m1")), name="big")
    with pytest.raises(ModelLoadError, match="big: no draft model can guess for it"):
        load(str(tiny_model_directory("lfm2")), recurrent)


def test_a_draft_model_that_is_not_there_stops_the_start() -> None:
    with pytest.raises(ModelNotFoundError, match="no-such-model"), running(draft_model="no-such-model"):
        pass


def test_both_pools_have_equally_many_pages(stranger_directory: Path) -> None:
    target = load_model("pie-tiny", name="pie-tiny")
    draft = load(str(stranger_directory), target)
    allocate_together(target, [draft], pages=None, page_size=16, memory_fraction=0.8, headroom_bytes=0)
    assert target.pool.pages == draft.pool.pages
    assert target.pool.bytes() + draft.pool.bytes() <= 1 << 30


def test_pools_that_do_not_fit_together_are_refused(stranger_directory: Path) -> None:
    target = load_model("pie-tiny", name="pie-tiny")
    draft = load(str(stranger_directory), target)
    with pytest.raises(OutOfPagesError, match="page pool"):
        allocate_together(target, [draft], pages=1 << 30, page_size=16, memory_fraction=0.8, headroom_bytes=0)
