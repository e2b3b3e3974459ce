"""A draft model that is one of the engine's other models."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from inferlet import Context, Model, Sampler
from inferlet._calls.host import use_host
from pie_mlx.engine.engine import EngineCore
from pie_mlx.engine.hosting.process import ProcessHost
from pie_mlx.engine.model.mlx_lm.modules import parameters_of
from pie_mlx.engine.settings import EngineSettings
from pie_mlx.engine.speculation.drafting import Allowance
from pie_mlx.errors import InvalidArgumentError, ModelError, ModelLoadError
from pie_mlx.events import PassCompleted
from tests.engine.models.test_models import Several, settings_of
from tests.engine.running import finished, small_prompt

SAMPLERS = [Sampler.argmax(), Sampler.multinomial(0.9, seed=5)]


def tiny(name: str, **options: Any) -> EngineSettings:
    return settings_of("pie-tiny", name=name, draft_head=False, **options)


@pytest.fixture(scope="module")
def pair() -> Iterator[Several]:
    """The small model is pie-tiny as well: its guesses are right."""
    small = tiny("small", load="lazy", keep_alive_seconds=600.0)
    large = tiny("large", draft_model="helper", keep_alive_seconds=600.0)
    with Several([large, small], aliases={"helper": "small"}) as engine:
        yield engine


async def written(host: ProcessHost, name: str, seed: int, sampler: Sampler, **options: Any) -> list[int]:
    with use_host(host), Context(Model.load(name)) as context:
        context.append(small_prompt(20, seed))
        return await context.generate(sampler, max_tokens=24, stop=[], auto_flush=False, **options).collect_tokens()


def write(engine: Several, name: str, seed: int, sampler: Sampler = SAMPLERS[0], **options: Any) -> list[int]:
    host = engine.open()
    try:
        return finished(written(host, name, seed, sampler, **options))
    finally:
        finished(engine.core.close_process(host.process_id))


def draft(engine: Several, seed: int, sampler: Sampler = SAMPLERS[0]) -> tuple[list[int], int]:
    """What the large model writes with drafts, and how many of these were right."""
    desk = engine.core.models.services("large").drafts.model
    assert desk is not None
    desk.allowance = Allowance()
    engine.events.clear()
    found = write(engine, "large", seed, sampler, speculation="draft_model")
    return found, sum(event.guessed_right for event in engine.events if isinstance(event, PassCompleted))


@settings(max_examples=3, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 50), st.sampled_from(SAMPLERS))
def test_the_text_is_that_of_plain_decoding_whatever_the_other_model_writes_besides(
    pair: Several, seed: int, sampler: Sampler
) -> None:
    plain = write(pair, "large", seed, sampler)
    write(pair, "small", seed + 1)
    found, right = draft(pair, seed, sampler)
    assert found == plain
    assert right > 0


def test_both_write_at_the_same_time_what_each_writes_alone(pair: Several) -> None:
    async def both() -> tuple[list[int], list[int]]:
        large = written(host, "large", 3, SAMPLERS[0], speculation="draft_model")
        return await asyncio.gather(large, written(host, "small", 4, SAMPLERS[0]))

    host = pair.open()
    large, small = finished(both())
    finished(pair.core.close_process(host.process_id))
    assert (large, small) == (write(pair, "large", 3), write(pair, "small", 4))


def test_the_weights_are_in_memory_once_and_count_once(pair: Several) -> None:
    large, small = (pair.core.models.services(name) for name in ("large", "small"))
    assert large.drafts.model is not None
    drafting = large.drafts.model.model
    shared, own = (dict(parameters_of(one.network.model)) for one in (drafting, small.runner.model))  # type: ignore[attr-defined]
    assert shared.keys() == own.keys()
    assert all(shared[name] is own[name] for name in own)
    weights, pools = large.runner.model.card.weight_bytes, large.runner.model.pool.bytes() + drafting.pool.bytes()
    assert large.held_bytes == weights + pools
    assert small.held_bytes == weights + small.runner.model.pool.bytes()


def test_a_model_that_drafts_for_another_one_is_unloaded_after_it_and_comes_back_with_it(pair: Several) -> None:
    before = write(pair, "large", 5)
    host = pair.open()
    with use_host(host), Context(Model.load("large")):
        with pytest.raises(ModelError, match="'small': it drafts for large with the same weights") as refused:
            finished(pair.core.unload_model("small"))
        large, small = pair.core.models.status()
        assert (large.draft_model, large.holders, large.stays) == ("small", (host.process_id,), "1 program uses it")
        assert (small.draft_model, small.stays) == ("", "drafts for large")
        assert refused.value.hint == "unload large first"
    finished(pair.core.close_process(host.process_id))
    finished(pair.core.unload_model("large"))
    assert pair.states() == {"large": "unloaded", "small": "loaded"}
    finished(pair.core.unload_model("small"))
    finished(pair.core.load_model("large"))
    found, right = draft(pair, 5)
    assert pair.states() == {"large": "loaded", "small": "loaded"}
    assert found == before
    assert right > 0


def test_a_draft_model_whose_time_is_up_leaves_only_after_the_model_that_it_drafts_for() -> None:
    models = [EngineSettings(dummy=True, name="first", total_pages=16), *lazy_pair(keep_alive_seconds=0.0)]
    with Several(models) as engine:
        host = engine.open()
        with use_host(host):
            Model.load("large")
            assert engine.states() == {"first": "loaded", "large": "loaded", "small": "loaded"}
        finished(engine.core.close_process(host.process_id))
        finished(engine.core.unload_model("large"))  # what it may have begun by itself is over then
        finished(engine.core.unload_model("small"))
        assert engine.states() == {"first": "loaded", "large": "unloaded", "small": "unloaded"}


def lazy_pair(**options: Any) -> list[EngineSettings]:
    return [tiny("large", load="lazy", draft_model="small", **options), tiny("small", load="lazy", **options)]


def test_a_draft_model_with_another_vocabulary_is_refused_by_one_line_and_answers_itself(
    tiny_model_directory: Callable[[str], Path],
) -> None:
    other = settings_of(tiny_model_directory("llama"), name="small")
    with Several([other, tiny("large", load="lazy", draft_model="small")]) as engine:
        with pytest.raises(ModelLoadError, match="draft model small: its vocabulary is not that of large: 320 tokens"):
            finished(engine.core.load_model("large"))
        assert engine.run("small")[0]


def test_a_model_without_weights_drafts_for_nobody() -> None:
    with (
        Several(
            [EngineSettings(dummy=True, name="small", total_pages=16), tiny("large", load="lazy", draft_model="small")]
        ) as engine,
        pytest.raises(ModelLoadError, match="small: it has no weights that write text"),
    ):
        finished(engine.core.load_model("large"))


def test_draft_models_in_a_circle_are_refused_before_anything_is_loaded() -> None:
    core = EngineCore([tiny("a", draft_model="b"), tiny("b", draft_model="a")])
    with pytest.raises(InvalidArgumentError, match="draft models in a circle: a, b, a"):
        finished(core.start())
