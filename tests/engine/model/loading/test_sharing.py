"""Two models over the same weights, each in passes of its own."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from benchmarks.driving import Context, Driver, Work
from pie_mlx.engine.model.loaded import LoadedModel
from pie_mlx.engine.model.loading.load import load_model, null_model
from pie_mlx.engine.model.loading.sharing import over_same_weights
from pie_mlx.engine.model.mlx_lm.modules import parameters_of
from pie_mlx.engine.model.networks.paged_network import PagedNetwork
from pie_mlx.engine.settings import UNCHANGED, KvFormat
from pie_mlx.errors import ModelLoadError

Directories = Callable[[str], Path]
PROMPT = [41, 52, 63, 74, 85]


def again(loaded: LoadedModel, kv: KvFormat = UNCHANGED) -> LoadedModel:
    return over_same_weights(loaded, "again", kv, lambda line: None)


def ready(model: LoadedModel) -> tuple[Driver, Context]:
    model.allocate(pages=8)
    driver = Driver(model)
    return driver, driver.context()


# Gemma 2 and GPT BigCode are changed to work on pages, LFM2 remembers states, DeepSeek 3 has pages of latents.
@pytest.mark.parametrize("architecture", ["llama", "gemma2", "gpt_bigcode", "lfm2", "deepseek_v3"])
def test_both_compute_the_same_and_neither_sees_the_steps_of_the_other(
    tiny_model_directory: Directories, architecture: str
) -> None:
    loaded = load_model(str(tiny_model_directory(architecture)), name="tiny")
    (first, one), (second, other) = ready(loaded), ready(again(loaded))
    first.run([Work(one, PROMPT)])
    second.run([Work(other, PROMPT[:3])])
    expected = first.run([Work(one, [90])])[0]
    second.run([Work(other, PROMPT[3:])])
    np.testing.assert_allclose(second.run([Work(other, [90])])[0], expected, rtol=1e-3, atol=1e-4)


def test_the_second_one_has_no_weights_of_its_own_and_its_own_kind_of_pages() -> None:
    loaded = load_model("pie-tiny", name="tiny")
    second = again(loaded, KvFormat("int8", 32))
    networks = [model.network for model in (loaded, second)]
    first, own = (dict(parameters_of(one.model)) for one in networks if isinstance(one, PagedNetwork))
    assert all(own[name] is array for name, array in first.items())
    assert (second.card.weight_bytes, second.name) == (0, "again")
    assert all(layer.quantisation for layer in second.layers)
    assert not any(layer.quantisation for layer in loaded.layers)


def test_a_model_without_weights_is_refused() -> None:
    with pytest.raises(ModelLoadError, match="again: it has no weights that write text"):
        again(null_model())
