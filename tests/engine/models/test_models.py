"""Several models in one engine."""

import asyncio
import gc
import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import mlx.core as mx
import numpy as np
import pytest

from benchmarks.tiny_encoders import TEXTS, write_conventions, write_tiny_encoder
from inferlet import Context, Model, Sampler, rules, runtime
from inferlet._calls.host import use_host
from pie_mlx.calls import DescribeRuntime, Forward, OtherContext, ReadMarket, Slot
from pie_mlx.engine.engine import EngineCore
from pie_mlx.engine.hosting.process import ProcessHost
from pie_mlx.engine.scheduler import device_turns
from pie_mlx.engine.settings import EngineSettings
from pie_mlx.errors import (
    InvalidArgumentError,
    ModelError,
    ModelLoadError,
    ModelNotFoundError,
    OutOfPagesError,
    TokenBudgetError,
)
from pie_mlx.events import ContextCreated, Event, ModelChanged, ModelProgressed, TickCompleted
from tests.engine.model.encoders.reference import PATH as REFERENCE
from tests.engine.running import NoClient, engine_alone, finished, small_prompt

ARCHITECTURES = ("llama", "qwen3", "gemma2")
TOKENS = 8


class Several:
    """An engine with several models, its events, and programs on it."""

    def __init__(self, settings: list[EngineSettings], **options: Any) -> None:
        self.events: list[Event] = []
        self._changed = threading.Condition()
        self.core = EngineCore(settings, **{"emit": self._note, **options})

    def __enter__(self) -> "Several":
        finished(self.core.start())
        return self

    def __exit__(self, *error: object) -> None:
        finished(self.core.stop())

    def open(self, **options: Any) -> ProcessHost:
        return self.core.open_process(username="tester", program="test", session=NoClient(), **options)

    def states(self) -> dict[str, str]:
        return {one.name: one.state for one in self.core.models.status()}

    def wait_for(self, model: str, state: str) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self.states()[model] == state)

    def _note(self, event: Event) -> None:
        self.events.append(event)
        if isinstance(event, ModelChanged):
            with self._changed:
                self._changed.notify_all()

    def run(self, *models: str, seed: int = 0) -> list[list[int]]:
        """A program of its own computes with the models one after the other."""
        host = self.open()
        try:
            return finished(program(host, models, seed))
        finally:
            finished(self.core.close_process(host.process_id))


async def program(host: ProcessHost, models: tuple[str, ...], seed: int = 0) -> list[list[int]]:
    with use_host(host):
        return [await greedy(name, seed) for name in models]


async def greedy(name: str, seed: int = 0) -> list[int]:
    with Context(Model.load(name)) as context:
        context.append(small_prompt(20, seed))
        return await context.generate(Sampler.argmax(), max_tokens=TOKENS, stop=[], auto_flush=False).collect_tokens()


def settings_of(folder: Path | str, **options: Any) -> EngineSettings:
    return EngineSettings(**{"model": str(folder), "total_pages": 64, "seed": 7, "dtype": "float32", **options})


@pytest.fixture(scope="module")
def several(tiny_model_directory: Callable[[str], Path]) -> Iterator[Several]:
    settings = [settings_of(tiny_model_directory(name), name=name) for name in ARCHITECTURES]
    with Several(settings, aliases={"gpt-4o-mini": "qwen3"}) as engine:
        yield engine


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_each_of_three_architectures_draws_the_tokens_that_it_draws_alone(
    several: Several, tiny_model_directory: Callable[[str], Path], architecture: str
) -> None:
    with engine_alone(model=str(tiny_model_directory(architecture)), total_pages=64) as alone, use_host(alone.host):
        expected = finished(_with_host(alone.host, alone.core.services.model_info.name))
    assert several.run(architecture) == [expected]


async def _with_host(host: ProcessHost, name: str) -> list[int]:
    with use_host(host):
        return await greedy(name)


def test_twenty_programs_over_all_models_at_once_get_what_each_gets_alone(several: Several) -> None:
    orders = [ARCHITECTURES[turn % 3 :] + ARCHITECTURES[: turn % 3] for turn in range(20)]
    expected = {(name, seed): several.run(name, seed=seed)[0] for name in ARCHITECTURES for seed in range(4)}
    hosts = [several.open() for _ in orders]

    async def all_at_once() -> list[list[list[int]]]:
        return await asyncio.gather(
            *(program(host, order, turn % 4) for turn, (host, order) in enumerate(zip(hosts, orders, strict=True)))
        )

    found = finished(all_at_once())
    for host in hosts:
        finished(several.core.close_process(host.process_id))
    assert found == [[expected[name, turn % 4] for name in order] for turn, order in enumerate(orders)]
    assert several.core.models.loaded[0].store.usage().used == 0


@pytest.mark.parametrize(("turn_seconds", "several_at_once"), [(-1.0, False), (3600.0, True)], ids=["step", "text"])
def test_models_draw_the_same_tokens_in_turns_of_whatever_length(
    several: Several, monkeypatch: pytest.MonkeyPatch, turn_seconds: float, *, several_at_once: bool
) -> None:
    monkeypatch.setattr(device_turns, "TURN_SECONDS", turn_seconds)
    expected = [several.run(name)[0] for name in ARCHITECTURES]
    host, first = several.open(), len(several.events)

    async def at_once() -> list[list[int]]:
        with use_host(host):
            return await asyncio.gather(*(greedy(name) for name in ARCHITECTURES))

    found = finished(at_once())
    finished(several.core.close_process(host.process_id))
    assert found == expected
    told = [event for event in several.events[first:] if isinstance(event, TickCompleted)]
    assert any(event.steps > 2 if several_at_once else event.ahead for event in told)


def test_each_model_has_a_pool_and_ticks_of_its_own(several: Several) -> None:
    several.run(*ARCHITECTURES)
    pools = {id(services.store) for services in several.core.models.loaded}
    assert len(pools) == 3
    assert {event.model for event in several.events if isinstance(event, TickCompleted)} == {"", "qwen3", "gemma2"}


def test_numbers_of_contexts_are_of_one_model_only(several: Several) -> None:
    host = several.open()
    with use_host(host):
        contexts = [Context(Model.load(name)) for name in ARCHITECTURES]
        assert len({context.id for context in contexts}) == 3
        for context in contexts:
            context.release()
    finished(several.core.close_process(host.process_id))


def test_a_rule_joins_no_rows_of_two_models(several: Several) -> None:
    host = several.open()
    guided = Sampler.argmax().ruled(rules.guidance())

    async def join() -> None:
        with use_host(host):
            first, other = (Context(Model.load(name)).append(small_prompt(4)) for name in ARCHITECTURES[:2])
            with pytest.raises(InvalidArgumentError, match="others: rows of two models, llama and qwen3"):
                first.generate(guided, others=[other])
            forged = Forward(first.id, [5], slots=[Slot(0, guided)], others=[OtherContext(other.id, [5])])
            with pytest.raises(InvalidArgumentError, match="rows of two models, llama and qwen3"):
                await host.submit(forged)

    finished(join())
    finished(several.core.close_process(host.process_id))


def test_a_process_and_its_children_may_have_another_default_model(several: Several) -> None:
    host = several.open(model="gpt-4o-mini")
    child = several.open(parent=host.process_id)
    for one in (host, child):
        described = one.call(DescribeRuntime())
        assert described.models == ["qwen3", "llama", "gemma2"]
        with use_host(one), Context(Model.load("qwen3")) as context:
            reading = one.call(ReadMarket())
            assert reading == one.call(ReadMarket(model="qwen3")) == one.call(ReadMarket(context.id))
    assert host.process_id not in several.core.services.processes
    for one in (child, host):
        finished(several.core.close_process(one.process_id))


def test_a_default_model_that_the_engine_does_not_have_is_refused(several: Several) -> None:
    with pytest.raises(ModelNotFoundError, match="gpt-5"):
        several.open(model="gpt-5")


def test_an_alias_names_a_model(several: Several) -> None:
    host = several.open()
    with use_host(host):
        assert Model.load("gpt-4o-mini").name == "qwen3"
    finished(several.core.close_process(host.process_id))


def test_an_unknown_name_is_refused_with_the_list(several: Several) -> None:  # I2
    host = several.open()
    with use_host(host), pytest.raises(ModelNotFoundError) as raised:
        Model.load("gpt-5")
    finished(several.core.close_process(host.process_id))
    assert raised.value.hint == "loaded models: llama, qwen3, gemma2, gpt-4o-mini"


def test_a_token_budget_is_of_all_models_together(several: Several) -> None:  # M3
    host = several.open(token_budget=30)
    with pytest.raises(TokenBudgetError):
        finished(program(host, ("llama", "qwen3")))
    finished(several.core.close_process(host.process_id))


def test_a_name_that_two_models_have_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="two of them have one name"):
        EngineCore([EngineSettings(dummy=True, name="a"), EngineSettings(dummy=True, name="a")])


def test_an_alias_of_no_model_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="which is no model"):
        EngineCore(EngineSettings(dummy=True, name="a"), aliases={"b": "c"})


def test_a_lazy_model_is_loaded_by_its_first_program_and_leaves_after_its_last() -> None:
    lazy = settings_of("pie-tiny", name="lazy", load="lazy", keep_alive_seconds=0.0)
    with Several([EngineSettings(dummy=True, name="first", total_pages=16), lazy]) as engine:
        assert engine.states() == {"first": "loaded", "lazy": "unloaded"}
        first = engine.run("lazy")
        finished(engine.core.unload_model("lazy"))  # what it may have begun by itself is over then
        assert engine.states() == {"first": "loaded", "lazy": "unloaded"}
        assert engine.run("lazy") == first
    states = [event.state for event in engine.events if isinstance(event, ModelChanged) and event.model == "lazy"]
    assert states[:7] == ["unloaded", "loading", "loaded", "unloading", "unloaded", "loading", "loaded"]


def test_an_engine_with_several_models_tells_of_each_when_it_starts_and_of_the_pages_of_those_it_loads() -> None:
    first = EngineSettings(dummy=True, name="first", total_pages=16)
    with Several([first, EngineSettings(dummy=True, name="lazy", total_pages=8, load="lazy")]) as engine:
        told = [event for event in engine.events if isinstance(event, ModelChanged)]
    assert [(event.model, event.state, event.total_pages, event.page_size) for event in told[:4]] == [
        ("first", "unloaded", 0, 0),
        ("lazy", "unloaded", 0, 0),
        ("first", "loading", 0, 0),
        ("first", "loaded", 16, 16),
    ]


def test_a_context_says_of_which_model_it_is_unless_of_the_default_one() -> None:
    models = [EngineSettings(dummy=True, name=name, total_pages=16) for name in ("first", "second")]
    with Several(models) as engine:
        engine.run("first", "second")
    assert [event.model for event in engine.events if isinstance(event, ContextCreated)] == ["", "second"]


def test_programs_are_told_of_every_model_without_loading_any() -> None:
    first = EngineSettings(dummy=True, name="first", total_pages=16)
    lazy = EngineSettings(dummy=True, name="lazy", total_pages=16, load="lazy", keep_alive_seconds=60.0)
    with Several([first, lazy], aliases={"alias": "lazy"}) as engine:
        host = engine.open()
        with use_host(host):
            loaded, unloaded = runtime.model_states()
            assert engine.states()["lazy"] == "unloaded"
            finished(engine.core.load_model("lazy"))
            free = runtime.model_states()[1]
            finished(program(host, ("lazy",)))
            used = runtime.model_states()[1]
    assert (loaded.name, loaded.state, loaded.stays) == ("first", "loaded", "its keep_alive is forever")
    assert (unloaded.state, unloaded.aliases, unloaded.maximum_positions) == ("unloaded", ["alias"], 0)
    assert (free.state, free.maximum_positions > 0, free.stays) == ("loaded", True, "")
    assert 0 < (free.expires_in_seconds or 0) <= 60
    assert (used.stays, used.expires_in_seconds) == ("1 program uses it", None)


def test_a_model_that_is_loaded_tells_how_much_of_it_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pie_mlx.engine.model.mlx_lm.weights.PIECE_BYTES", 1 << 20)
    seen: list[tuple[dict[str, float], float | None]] = []

    def emit(event: Event) -> None:
        if isinstance(event, ModelProgressed):
            models = several.core.models
            assert models.loading() == {"lazy": event.progress, "alias": event.progress}
            seen.append((models.loading(), models.status()[1].progress))

    lazy = settings_of("pie-tiny", name="lazy", load="lazy")
    first = EngineSettings(dummy=True, name="first", total_pages=16)
    with Several([first, lazy], aliases={"alias": "lazy"}, emit=emit) as several:
        several.run("alias")
        assert several.core.models.loading() == {}
        assert several.core.models.status()[1].progress is None
    found = [progress for _, progress in seen if progress is not None]
    assert len(found) == len(seen) > 3
    assert found == sorted(set(found))
    assert found[-1] == 1.0


def test_a_handle_outlives_the_unloading_of_its_model() -> None:
    lazy = settings_of("pie-tiny", name="lazy", load="lazy", keep_alive_seconds=60.0)
    with Several([EngineSettings(dummy=True, name="first", total_pages=16), lazy]) as engine:
        host = engine.open()
        with use_host(host):
            model = Model.load("lazy")
            tokens = model.tokenizer().encode("hello")
            finished(engine.core.unload_model("lazy"))
            assert model.tokenizer().encode("hello") == tokens
        assert engine.states()["lazy"] == "loaded"


def test_a_model_that_no_program_asked_for_leaves_unused_as_well() -> None:
    lazy = EngineSettings(dummy=True, name="lazy", total_pages=16, load="lazy", keep_alive_seconds=0.0)
    with Several([EngineSettings(dummy=True, name="first", total_pages=16), lazy]) as engine:
        finished(engine.core.load_model("lazy"))
        engine.wait_for("lazy", "unloaded")


def test_a_model_with_contexts_is_not_unloaded() -> None:
    lazy = settings_of("pie-tiny", name="lazy", load="lazy", keep_alive_seconds=0.0)
    with Several([EngineSettings(dummy=True, name="first", total_pages=16), lazy]) as engine:
        host = engine.open()
        with use_host(host), Context(Model.load("lazy")), pytest.raises(ModelError, match="1 program uses it"):
            finished(engine.core.unload_model("lazy"))
        finished(engine.core.close_process(host.process_id))


def test_a_load_that_fails_leaves_the_others_running(tmp_path: Path) -> None:
    broken = settings_of(tmp_path, name="broken", load="lazy")
    with Several([settings_of("pie-tiny", name="first"), broken]) as engine:
        host = engine.open()
        with use_host(host), pytest.raises(ModelLoadError):
            Model.load("broken")
        finished(engine.core.close_process(host.process_id))
        assert engine.run("first")[0]


def test_a_model_whose_directory_is_gone_is_no_model_that_does_not_exist(tmp_path: Path) -> None:
    gone = settings_of(tmp_path / "gone", name="lazy", load="lazy")
    with Several([settings_of("pie-tiny", name="first"), gone]) as engine:
        with pytest.raises(ModelLoadError, match=r"model 'lazy': .*gone"):
            finished(engine.core.load_model("lazy"))
        with pytest.raises(ModelNotFoundError):
            finished(engine.core.load_model("unknown"))
        assert engine.run("first")[0]


def test_a_fault_of_the_libraries_while_a_model_is_loaded_is_told_and_the_others_go_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lazy = settings_of("pie-tiny", name="lazy", load="lazy")
    with Several([settings_of("pie-tiny", name="first"), lazy]) as engine:
        with monkeypatch.context() as broken:

            async def fails(*arguments: object) -> None:
                raise RuntimeError("no memory")

            broken.setattr("pie_mlx.engine.models.models.start_services", fails)
            with pytest.raises(ModelLoadError, match="RuntimeError: no memory"):
                finished(engine.core.load_model("lazy"))
        assert engine.states() == {"first": "loaded", "lazy": "failed"}
        assert engine.run("first") == engine.run("lazy")


def test_a_load_that_fails_half_way_leaves_nothing_and_can_be_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    lazy = settings_of("pie-tiny", name="lazy", load="lazy")
    with Several([settings_of("pie-tiny", name="first"), lazy]) as engine:
        gc.collect()
        before = mx.get_active_memory()
        with monkeypatch.context() as broken:
            pieces = iter(range(3))

            def evaluate(piece: list[mx.array]) -> None:
                if next(pieces, None) is None:
                    raise RuntimeError("[read] Unable to read from file")
                mx.eval(piece)

            broken.setattr("pie_mlx.engine.model.mlx_lm.weights.evaluate", evaluate)
            broken.setattr("pie_mlx.engine.model.mlx_lm.weights.PIECE_BYTES", 1 << 20)
            with pytest.raises(ModelLoadError, match="Unable to read"):
                finished(engine.core.load_model("lazy"))
        assert 0 < next(event.progress for event in engine.events[::-1] if isinstance(event, ModelProgressed)) < 1
        assert engine.states() == {"first": "loaded", "lazy": "failed"}
        gc.collect()
        assert mx.get_active_memory() <= before
        assert engine.run("first") == engine.run("lazy")


def test_two_programs_with_models_that_fit_one_at_a_time_both_finish(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pie_mlx.engine.models.residence.STAY_SECONDS", 0.0)
    small = {"memory_headroom_bytes": 0, "max_batch_tokens": 64, "max_batch_contexts": 4}
    small |= {"load": "lazy", "keep_alive_seconds": 600.0}
    models = [settings_of("pie-tiny", name=name, **small) for name in ("first", "second")]
    with Several(models, memory_bytes=36 << 20) as engine:
        with ThreadPoolExecutor(2) as threads:
            found = list(threads.map(engine.run, ("first", "second")))
        assert found[0] == found[1]
        assert sorted(engine.states().values()) == ["loaded", "unloaded"]


def test_a_model_that_does_not_fit_beside_a_pinned_one_is_refused_with_the_numbers() -> None:
    small = {"memory_headroom_bytes": 0, "max_batch_tokens": 64, "max_batch_contexts": 4}
    models = [
        settings_of("pie-tiny", name="first", **small),
        settings_of("pie-tiny", name="second", load="lazy", **small),
    ]
    with Several(models, memory_bytes=36 << 20) as engine:  # one takes 20 MB, and 28 MB with its largest step
        host = engine.open()
        with use_host(host), pytest.raises(OutOfPagesError, match="of other models"):
            Model.load("second")
        finished(engine.core.close_process(host.process_id))


def test_the_models_of_an_engine_are_listed(several: Several) -> None:
    from inferlet import runtime

    host = several.open()
    with use_host(host):
        assert runtime.models() == list(ARCHITECTURES)
    finished(several.core.close_process(host.process_id))


@pytest.fixture(scope="module")
def tiny_encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_conventions(write_tiny_encoder(tmp_path_factory.mktemp("bert"), "bert"), normalises=False)


@pytest.mark.parametrize("order", [("main", "encoder"), ("encoder", "main")])
def test_an_encoder_and_a_decoder_compute_beside_each_other_what_each_computes_alone(
    tiny_encoder: Path, tiny_model_directory: Callable[[str], Path], order: tuple[str, str], several: Several
) -> None:
    folders = {"main": tiny_model_directory("llama"), "encoder": tiny_encoder}

    async def both(host: ProcessHost) -> tuple[list[int], list[list[float]]]:
        with use_host(host):
            return await asyncio.gather(greedy("main"), Model.load("encoder").embed(TEXTS * 20))

    with Several([settings_of(folders[name], name=name) for name in order]) as engine:
        host = engine.open()
        tokens, vectors = finished(both(host))
        with use_host(host):
            assert [Model.load(name).info.generates for name in ("main", "encoder")] == [True, False]
            with pytest.raises(InvalidArgumentError, match="encoder is an encoder, which writes no text"):
                Context(Model.load("encoder"))
        finished(engine.core.close_process(host.process_id))
    assert [tokens] == several.run("llama")
    np.testing.assert_allclose(vectors, json.loads(REFERENCE.read_text())["bert"]["mean"] * 20, atol=5e-5)


def test_an_encoder_comes_when_vectors_are_wanted_and_gives_its_memory_back(tiny_encoder: Path) -> None:
    lazy = settings_of(tiny_encoder, name="encoder", load="lazy", keep_alive_seconds=600.0)
    with Several([settings_of("pie-tiny", name="main"), lazy]) as engine:
        host = engine.open()
        with use_host(host):
            model = Model.load("encoder")
            before = finished(model.embed(TEXTS))
            finished(engine.core.unload_model("encoder"))
            assert engine.states() == {"main": "loaded", "encoder": "unloaded"}
            assert finished(model.embed(TEXTS)) == before
        finished(engine.core.close_process(host.process_id))
        (_, encoder) = engine.core.models.status()
        assert 0 < encoder.size_bytes < 1 << 20
