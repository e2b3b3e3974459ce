"""However deep a model is, only so much of a step is under way at once."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import mlx.core as mx
import numpy as np
import pytest

from benchmarks.driving import Driver, Work, without_files
from benchmarks.tiny_models import tiny_config, tiny_model
from pie_mlx.backends import using
from pie_mlx.engine.model.loaded import LoadedModel
from pie_mlx.engine.model.memory import Segments, segments
from pie_mlx.engine.model.networks.paged_network import PagedNetwork
from tests.backends.played import PlayedGpu

PROMPT = [int(token) for token in np.random.default_rng(5).integers(3, 90, 40)]


@dataclass
class Watched:
    """Segments that are begun and not waited for, most of them at once, and how many there were."""

    outstanding: int = 0
    most: int = 0
    begun: int = 0


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> Watched:
    found = Watched()
    begin, evaluate = segments.begin_evaluation, segments.evaluate

    def begun(*arrays: mx.array) -> None:
        begin(*arrays)
        found.begun, found.outstanding = found.begun + 1, found.outstanding + 1
        found.most = max(found.most, found.outstanding)

    def waited(*arrays: mx.array) -> None:
        evaluate(*arrays)
        found.outstanding -= 1

    monkeypatch.setattr(segments, "begin_evaluation", begun)
    monkeypatch.setattr(segments, "evaluate", waited)
    return found


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A device whose pool begins no layers itself."""
    monkeypatch.setattr(segments, "SEGMENT_BYTES", 1)
    with using(PlayedGpu()):
        yield


def loaded(architecture: str, layers: int | None = None) -> LoadedModel:
    mx.random.seed(3)
    depth = {} if layers is None else {"num_hidden_layers": layers}
    config = tiny_config(architecture) | depth
    model = without_files(PagedNetwork(tiny_model(architecture, config), architecture))
    model.allocate(pages=64)
    return model


def logits(model: LoadedModel) -> np.ndarray:
    driver = Driver(model)
    return driver.run([Work(driver.context(), PROMPT)])


@pytest.mark.parametrize("layers", [1, 5, 24])
def test_a_step_has_two_segments_under_way_at_any_depth(layers: int, watched: Watched, gpu: None) -> None:
    logits(loaded("llama", layers))
    assert watched.begun == layers
    assert watched.most == min(segments.MOST, layers)


@pytest.mark.parametrize("architecture", ["qwen3_next", "mamba2", "gemma2"])
def test_recurrent_layers_and_gathered_pages_are_no_exception(architecture: str, watched: Watched, gpu: None) -> None:
    logits(loaded(architecture))
    assert watched.begun >= 4
    assert watched.most == segments.MOST


@pytest.mark.parametrize("architecture", ["llama", "qwen3_next", "gemma2"])
def test_segments_change_no_result(architecture: str, gpu: None, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(segments, "SEGMENT_BYTES", 1 << 40)
        whole = logits(loaded(architecture))
    assert np.abs(logits(loaded(architecture)) - whole).max() < 1e-5


def test_a_decode_step_is_one_segment(watched: Watched) -> None:
    with using(PlayedGpu()):
        driver = Driver(loaded("llama", 24))
    driver.run([Work(driver.context(), [5])])
    assert watched.begun == 0


def test_a_segment_ends_where_its_layers_come_to_its_size(watched: Watched) -> None:
    held = Segments()
    held.start(segments.SEGMENT_BYTES // 3 + 1)
    for layer in range(7):
        held.stored(mx.array(layer))
    assert watched.begun == 2


def test_the_oldest_is_evaluated_before_the_next_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[str, int]] = []

    def telling(what: str) -> Callable[[mx.array], None]:
        return lambda array: told.append((what, int(array.item())))

    monkeypatch.setattr(segments, "begin_evaluation", telling("begin"))
    monkeypatch.setattr(segments, "evaluate", telling("wait"))
    held = Segments()
    held.start(segments.SEGMENT_BYTES)
    for layer in range(4):
        held.stored(mx.array(layer))
    assert told == [("begin", 0), ("begin", 1), ("wait", 0), ("begin", 2), ("wait", 1), ("begin", 3)]


def failing() -> mx.array:
    halves = mx.ones((64, 64), mx.float16)
    return mx.block_masked_mm(halves, halves, 32, mx.ones((2, 2), mx.bool_))  # MLX has it for float32 alone


def test_a_segment_that_failed_fails_no_later_step_once_it_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segments, "begin_evaluation", lambda array: None)
    held = Segments()
    held.start(segments.SEGMENT_BYTES)
    held.stored(failing())
    held.stored(mx.array(1))
    with pytest.raises(RuntimeError):
        held.stored(mx.array(2))
    held.start(segments.SEGMENT_BYTES)
    held.stored(failing())
    held.forget()
    for layer in range(4):
        held.stored(mx.array(layer))
