"""A model that left the memory unused finds its pages on disk when it comes back."""

from collections.abc import Callable
from pathlib import Path

import pytest

from inferlet import Context, Model, Sampler
from inferlet._calls.host import use_host
from pie_mlx.engine.hosting.process import ProcessHost
from pie_mlx.engine.settings import DiskCacheSettings, EngineSettings
from pie_mlx.events import PagesLoaded, PassCompleted
from tests.engine.models.test_models import Several, settings_of
from tests.engine.running import finished, small_prompt

KEPT_SECONDS = 300.0
PROMPT_TOKENS = 96


class Clock:
    """Seconds that a test sets."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


async def talk(host: ProcessHost) -> list[int]:
    with use_host(host), Context(Model.load("lazy")) as context:
        context.append(small_prompt(PROMPT_TOKENS))
        return await context.generate(Sampler.argmax(), max_tokens=8, stop=[], auto_flush=False).collect_tokens()


def talked(engine: Several) -> list[int]:
    host = engine.open()
    try:
        return finished(talk(host))
    finally:
        finished(engine.core.close_process(host.process_id))


@pytest.mark.parametrize(
    ("model", "dtype", "attached"),
    [
        ("pie-tiny", "auto", PROMPT_TOKENS - 1),
        ("pie-tiny", "int8", PROMPT_TOKENS - 1),
        ("lfm2", "auto", PROMPT_TOKENS - 16),  # the state after the last page is one token too far
    ],
)
def test_of_a_prompt_from_before_an_idle_unload_nothing_is_computed_again(
    tiny_model_directory: Callable[[str], Path], tmp_path: Path, model: str, dtype: str, attached: int
) -> None:
    clock = Clock()
    lazy = settings_of(
        model if model == "pie-tiny" else tiny_model_directory(model),
        name="lazy",
        load="lazy",
        keep_alive_seconds=KEPT_SECONDS,
        kv_dtype=dtype,
        disk_cache=DiskCacheSettings(str(tmp_path / "kv")),
    )
    with Several([EngineSettings(dummy=True, name="first", total_pages=16), lazy], clock=clock) as engine:
        before = talked(engine)
        clock.now += KEPT_SECONDS - 1
        engine.run("first")
        assert engine.states()["lazy"] == "loaded"
        clock.now += 2
        engine.run("first")
        engine.wait_for("lazy", "unloaded")
        engine.events.clear()
        assert talked(engine) == before
    loaded = sum(event.pages for event in engine.events if isinstance(event, PagesLoaded))
    first = next(event for event in engine.events if isinstance(event, PassCompleted) and event.input_tokens > 1)
    assert (first.attached_tokens, first.loaded_tokens, loaded) == (attached, attached, -(-attached // 16))
