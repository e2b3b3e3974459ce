"""What an engine leaves behind that stopped, or never came to run: nothing."""

import asyncio
import gc
import shutil
import threading
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pie_mlx.engine.engine import EngineCore
from pie_mlx.engine.models import models as models_module
from pie_mlx.engine.services import Services
from pie_mlx.engine.settings import EngineSettings
from pie_mlx.errors import EngineStoppedError, TemplateError
from pie_mlx.events import EngineStarted, Event
from pie_mlx.metal.page_pool.pool import KvPool
from tests.engine.running import engine_alone, running
from tests.instances import instances


def test_an_engine_that_stopped_gives_its_memory_back() -> None:
    with running(total_pages=16) as engine:
        parts = [
            weakref.ref(engine.core.services.runner.model.pool),
            weakref.ref(engine.core.services.language.tokenizer),
        ]
    del engine
    assert parts[0]() is None  # at once: it is most of the memory
    gc.collect()
    assert parts[1]() is None


def test_a_stopped_engine_that_is_still_referenced_holds_no_draft_model(
    tiny_model_directory: Callable[[str], Path],
) -> None:
    model = str(tiny_model_directory("qwen3"))
    with instances(KvPool) as made, engine_alone(model=model, draft_model=model, total_pages=16) as engine:
        pools = [weakref.ref(made.pop()) for _ in range(2)]
        assert made == []
    gc.collect()
    assert [pool() for pool in pools] == [None, None]
    with pytest.raises(EngineStoppedError):
        _ = engine.core.services


class CancelledAtItsEnd:
    """A start that is cancelled when the engine runs and nobody has been told yet; what there was of it."""

    def __init__(self, settings: EngineSettings, monkeypatch: pytest.MonkeyPatch) -> None:
        self.core = EngineCore(settings, emit=self._on_event)
        self.pools: list[weakref.ref[Any]] = []
        self._start_services = models_module.start_services
        monkeypatch.setattr(models_module, "start_services", self._watched)

    async def run(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._starting = asyncio.create_task(self.core.start())
        with pytest.raises(asyncio.CancelledError):
            await self._starting

    def _on_event(self, event: Event) -> None:
        """From here on the start waits for nothing, and its result comes after this on the loop that waits for it."""
        if isinstance(event, EngineStarted):
            self._loop.call_soon_threadsafe(self._starting.cancel)

    async def _watched(self, *arguments: Any) -> Services:
        with instances(KvPool) as made:
            services = await self._start_services(*arguments)
            while made:
                self.pools.append(weakref.ref(made.pop()))
        return services


async def test_a_start_cancelled_at_its_end_leaves_no_thread_running(monkeypatch: pytest.MonkeyPatch) -> None:
    before = set(threading.enumerate())
    cancelled = CancelledAtItsEnd(EngineSettings(dummy=True, total_pages=16), monkeypatch)
    await cancelled.run()
    assert {thread.name for thread in set(threading.enumerate()) - before if thread.name.startswith("pie-")} == set()


async def test_a_start_that_fails_after_the_loading_of_the_model_leaves_no_thread_running(
    tiny_model_directory: Callable[[str], Path], tmp_path: Path
) -> None:
    folder = shutil.copytree(tiny_model_directory("qwen3"), tmp_path / "model")
    (folder / "chat_template.jinja").write_text("{% if")
    before = set(threading.enumerate())
    with pytest.raises(TemplateError):
        await EngineCore(EngineSettings(str(folder), total_pages=16)).start()
    assert {thread.name for thread in set(threading.enumerate()) - before if thread.name.startswith("pie-")} == set()


async def test_a_start_cancelled_at_its_end_gives_its_memory_back(
    tiny_model_directory: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = str(tiny_model_directory("qwen3"))
    cancelled = CancelledAtItsEnd(EngineSettings(model, draft_model=model, total_pages=16), monkeypatch)
    await cancelled.run()
    gc.collect()
    assert [pool() for pool in cancelled.pools] == [None, None]
