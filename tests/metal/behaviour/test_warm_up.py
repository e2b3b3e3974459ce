"""After its start an engine asks the GPU for nothing that Metal has yet to compile."""

from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

import mlx.core as mx
import pytest

from benchmarks.tiny_models import tiny_config, tiny_model
from pie_mlx.backends import kernels, using
from pie_mlx.backends.kernels import AppleBackend, EmulatorBackend
from pie_mlx.engine.common import Common
from pie_mlx.engine.hosting.roster import Roster
from pie_mlx.engine.model.loaded import LoadedModel, ModelCard
from pie_mlx.engine.model.networks.paged_network import PagedNetwork
from pie_mlx.engine.model.parts import at_once
from pie_mlx.engine.model.runner.warm_up import warming_up
from pie_mlx.engine.model_names import ModelNames
from pie_mlx.engine.settings import EngineSettings
from pie_mlx.engine.start import start_services
from pie_mlx.events import WantedDetails
from pie_mlx.metal.emulator import Builder, Emulator
from pie_mlx.metal.launcher import KernelLauncher, emulator_launcher
from tests.metal.behaviour.test_engine import Driver, Work
from tests.metal.failing import Failing

warm_up = at_once(warming_up)

PAGES, PAGE_SIZE = 160, 8


def as_metal(launcher: KernelLauncher) -> KernelLauncher:
    """The emulator in place of an Apple GPU."""
    return replace(launcher, kind="metal")


def allocated(architecture: str, launcher: KernelLauncher, pages: int = PAGES, **options: object) -> LoadedModel:
    mx.random.seed(3)
    config = {**tiny_config(architecture), "num_hidden_layers": 2, "max_position_embeddings": 1200, **options}
    with using(EmulatorBackend(as_metal(launcher))):
        network = PagedNetwork(tiny_model(architecture, config), architecture)
        model = LoadedModel(ModelCard(architecture, b"", 1200, None, (), config, mx.float32, 0), network)
    model.allocate(pages=pages, page_size=PAGE_SIZE)
    return model


def tell_a_long_story(model: LoadedModel) -> None:
    """Contexts of 1 to 700 tokens alone and together, chunks, drafts, masks, forks, moved pages."""
    driver = Driver(model, PAGES)
    long, short = driver.sequence(), driver.sequence()
    driver.run(Work(short, [3]))
    driver.run(Work(long, [(7 * i) % 90 + 1 for i in range(511)]))
    for _ in range(2):
        driver.run(Work(long, [5]))
    fork = driver.fork(long)
    driver.run(Work(fork, [1, 2, 3, 4, 5, 6]), Work(short, [4]), Work(long, [5] * 12))
    masks = [[3, long.length - 3 + 12]] * 12
    driver.run(Work(long, [6] * 12, masks=masks), Work(short, [5, 6], masks=[[1, short.length + 1]] * 2))
    driver.run(Work(short, [7], masks=[[2, short.length - 1]]), Work(fork, [7], masks=[[3, fork.length - 2]]))
    driver.run(Work(short, [7], masks=[[2, short.length - 1]]))
    driver.run(Work(long, [8] * 150), Work(short, list(range(10))))
    driver.truncate(short, 5)
    driver.move(short)
    driver.run(*(Work(sequence, [9]) for sequence in (long, short, fork)))


@pytest.mark.parametrize(
    ("architecture", "options"),
    [("llama", {"num_attention_heads": 1, "num_key_value_heads": 1}), ("gpt_oss", {})],
    ids=["one head", "windows and sinks"],
)
def test_nothing_new_is_compiled_in_a_long_story(architecture: str, options: dict[str, int], builder: Builder) -> None:
    emulator = Emulator(builder)
    model = allocated(architecture, emulator_launcher(emulator), **options)
    warm_up(model, lambda line: None)
    compiled = emulator.specialisations
    tell_a_long_story(model)
    assert emulator.specialisations == compiled


def test_a_pool_that_holds_little_is_warmed_up_for_little(builder: Builder) -> None:
    emulator = Emulator(builder)
    model = allocated("llama", emulator_launcher(emulator), pages=1)
    warm_up(model, lambda line: None)
    assert not any("attention_merge" in source for source in emulator.specialisations)


@pytest.mark.parametrize(
    ("kernel", "good", "ordered"), [("attention_merge", 0, False), ("page_copy", 0, False), ("paged_prefill", 1, True)]
)
def test_a_specialisation_that_cannot_be_compiled_is_found_at_the_start(
    kernel: str, good: int, ordered: bool, builder: Builder, caplog: pytest.LogCaptureFixture
) -> None:
    model = allocated("llama", Failing(builder, kernel, "pipeline", good).launcher)
    warm_up(model, lambda line: None)
    assert model.pool.ordered == ordered
    (record,) = caplog.records
    assert f"used instead of {kernel} until" in record.getMessage()
    driver = Driver(model, PAGES)
    assert driver.run(Work(driver.sequence(), [3] * 9))


def test_what_is_no_fault_of_kernels_does_not_keep_an_engine_from_its_start(
    builder: Builder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def finish(*outputs: mx.array) -> None:
        raise RuntimeError("[METAL] Command buffer execution failed: Insufficient Memory.")

    model = allocated("llama", emulator_launcher(Emulator(builder)))
    monkeypatch.setattr(model, "finish", finish)
    said: list[str] = []
    warm_up(model, said.append)
    assert said[1] == (
        "llama: not every kernel could be compiled: [METAL] Command buffer execution failed: Insufficient Memory."
    )
    assert model.pool.ordered


async def test_an_engine_says_what_it_waits_for_at_its_first_start_on_an_apple_gpu(
    builder: Builder, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PIE_HOME", str(tmp_path))
    monkeypatch.setattr(kernels, "metal_launcher", lambda: as_metal(emulator_launcher(Emulator(builder))))
    settings = EngineSettings(total_pages=1, name="tiny", dtype="float32", watches_memory=False, wires_memory=False)
    said: list[str] = []
    async with AsyncExitStack() as stopping:
        with using(AppleBackend()):
            common = Common(1, ModelNames(["tiny"]), lambda event: None, WantedDetails(), Roster(["tiny"]))
            stopping.callback(common.device.close)
            await start_services(settings, common, said.append, stopping)
    assert said[-3:] == [
        "checking the GPU kernels, once on this machine",
        "tiny: compiling the GPU kernels",
        "the draft head of tiny: compiling the GPU kernels",
    ]
