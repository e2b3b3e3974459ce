"""What an engine leaves behind that stopped, or never came to run: nothing."""

import gc
import weakref
from collections.abc import Callable
from pathlib import Path

import pytest

from pie_mlx.errors import EngineStoppedError
from tests.engine.running import engine_alone, running


def test_an_engine_that_stopped_gives_its_memory_back() -> None:
    with running(total_pages=16) as engine:
        parts = [weakref.ref(engine.core.services.runner.model.pool), weakref.ref(engine.core.services.tokenizer)]
    del engine
    assert parts[0]() is None  # at once: it is most of the memory
    gc.collect()
    assert parts[1]() is None


def test_a_stopped_engine_that_is_still_referenced_holds_no_draft_model(
    tiny_model_directory: Callable[[str], Path],
) -> None:
    model = str(tiny_model_directory("qwen3"))
    with engine_alone(model=model, draft_model=model, total_pages=16) as engine:
        desk = engine.core.services.draft_desk
        assert desk is not None
        draft_pool = weakref.ref(desk._model.pool)
        del desk
    gc.collect()
    assert draft_pool() is None
    with pytest.raises(EngineStoppedError):
        _ = engine.core.services
