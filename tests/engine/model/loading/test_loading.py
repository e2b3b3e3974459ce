"""From a name to a model, and what is refused on the way."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import mlx.core as mx
import mlx.nn as nn
import numpy as np
import pytest
from mlx.utils import tree_flatten
from mlx_lm.utils import load_model as load_peer

from benchmarks.architectures import reference_logits
from benchmarks.driving import Driver, Work
from pie_mlx.engine.model.loaded import LoadedModel
from pie_mlx.engine.model.loading.load import load_model, null_model
from pie_mlx.engine.model.loading.sources import EXAMPLE, not_downloaded
from pie_mlx.engine.model.networks import tiers
from pie_mlx.errors import InvalidArgumentError, ModelLoadError, ModelNotFoundError, OutOfPagesError
from tests.models import VOCABULARY, write_tiny_model

Directories = Callable[[str], Path]


def load(directory: Path, **options: str) -> LoadedModel:
    return load_model(str(directory), name="tiny", **options)


@pytest.fixture
def copied(tiny_model_directory: Directories, tmp_path: Path) -> Path:
    """A llama directory to damage."""
    return Path(shutil.copytree(tiny_model_directory("llama"), tmp_path / "copied"))


def last_logits(model: LoadedModel, tokens: list[int]) -> np.ndarray:
    model.allocate(pages=8)
    driver = Driver(model)
    return driver.run([Work(driver.context(), tokens)])[0]


def test_a_model_tells_what_it_is(tiny_model_directory: Directories) -> None:
    model = load(tiny_model_directory("llama"))
    assert (model.name, model.vocabulary_size, model.maximum_positions) == ("tiny", VOCABULARY, 512)
    assert (model.eos_token_ids, model.recurrent, model.tier) == ((2,), False, "paged tokens")
    assert model.tokenizer.decode(model.tokenizer.encode("pages")) == "pages"


def test_a_recurrent_model_says_so(tiny_model_directory: Directories) -> None:
    assert load(tiny_model_directory("qwen3_next")).recurrent


@pytest.mark.parametrize("reference", ["no-such-model", "/no/such/model", "./nowhere", "a/b/c"])
def test_an_unknown_model_is_not_found(reference: str) -> None:
    with pytest.raises(ModelNotFoundError, match="neither a directory") as raised:
        load_model(reference, name="x")
    assert EXAMPLE in raised.value.hint


def test_another_file_is_no_model(tmp_path: Path) -> None:
    (tmp_path / "a.safetensors").touch()
    with pytest.raises(
        ModelNotFoundError, match="a file, and no GGUF: a model is a GGUF file or a directory"
    ) as raised:
        load_model(str(tmp_path / "a.safetensors"), name="x")
    assert EXAMPLE in raised.value.hint


def test_who_has_no_connection_is_told_that_and_not_of_the_cache() -> None:
    unreachable = FileNotFoundError("An error happened while trying to locate the files on the Hub")
    unreachable.__cause__ = ConnectionError("Name or service not known")
    told = not_downloaded("a/b", unreachable)
    assert told.message == "model: a/b could not be downloaded: Name or service not known"
    assert told.hint == "check the connection to huggingface.co"


def test_a_model_that_is_not_cached_is_not_downloaded_unasked() -> None:
    with pytest.raises(ModelNotFoundError, match="is not in the Hugging Face cache") as raised:
        load_model("nobody/nothing", name="x")
    assert "pie model download nobody/nothing" in raised.value.hint


def test_a_directory_without_configuration_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelLoadError, match=r"holds no config\.json"):
        load(tmp_path)


def test_a_configuration_that_is_no_json_is_refused(copied: Path) -> None:
    (copied / "config.json").write_text("{")
    with pytest.raises(ModelLoadError, match=r"config\.json: not JSON"):
        load(copied)


def test_a_directory_without_weights_is_refused(copied: Path) -> None:
    (copied / "model.safetensors").unlink()
    with pytest.raises(ModelLoadError, match=r"holds no model\*\.safetensors"):
        load(copied)


@pytest.mark.parametrize("kept", [0, 5, 300, -1])
def test_truncated_weights_are_refused(copied: Path, kept: int) -> None:
    weights = copied / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:kept])
    with pytest.raises(ModelLoadError, match=r"is no safetensors file|its header describes"):
        load(copied)


def test_a_missing_shard_is_named(copied: Path) -> None:
    index = {"weight_map": {"a": "model.safetensors", "b": "model-00002-of-00002.safetensors"}}
    (copied / "model.safetensors.index.json").write_text(json.dumps(index))
    with pytest.raises(ModelLoadError, match="lacks model-00002-of-00002"):
        load(copied)


def test_weights_of_another_configuration_are_refused(copied: Path) -> None:
    config = json.loads((copied / "config.json").read_text())
    (copied / "config.json").write_text(json.dumps(config | {"intermediate_size": 100}))
    with pytest.raises(ModelLoadError, match=r"intermediate|shape|Expected"):
        load(copied)


def test_a_directory_without_tokenizer_is_refused(copied: Path) -> None:
    (copied / "tokenizer.json").unlink()
    (copied / "tokenizer_config.json").unlink()
    with pytest.raises(ModelLoadError, match="holds no tokenizer"):
        load(copied)


def test_an_architecture_mlx_lm_lacks_is_refused(copied: Path) -> None:
    config = json.loads((copied / "config.json").read_text())
    (copied / "config.json").write_text(json.dumps(config | {"model_type": "marvin"}))
    with pytest.raises(ModelLoadError, match=f"{copied}: Model type marvin not supported"):
        load(copied)


@pytest.mark.parametrize(("architecture", "reason"), [("llama4", "chunked layers"), ("plamo3", "disagree")])
def test_an_architecture_that_cannot_be_paged_is_refused_with_the_reason(
    architecture: str, reason: str, tmp_path: Path
) -> None:
    with pytest.raises(ModelLoadError, match=reason):
        load(write_tiny_model(tmp_path / architecture, architecture))


def test_an_unverified_architecture_is_compared_when_it_is_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(tiers.REFUSED, "plamo3")
    with pytest.raises(ModelLoadError, match="gives other logits on pages"):
        load(write_tiny_model(tmp_path / "plamo3", "plamo3"))


def test_an_unverified_architecture_that_agrees_is_loaded(
    tiny_model_directory: Directories, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pie_mlx.engine.model.loading.self_test.verified", dict)
    lines: list[str] = []
    load_model(str(tiny_model_directory("gemma3")), name="tiny", progress=lines.append)
    assert any("never compared" in line for line in lines)


def test_latents_that_give_other_logits_are_gathered(
    tiny_model_directory: Directories, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tiers, "LATENTS", frozenset({"deepseek_v32"}))  # its sparse attention would be bypassed
    directory, lines, tokens = tiny_model_directory("deepseek_v32"), list[str](), list(range(30, 60))
    model = load_model(str(directory), name="tiny", progress=lines.append)
    assert any("gives other logits on pages (paged latents)" in line for line in lines)
    assert model.tier == "dense equal"
    peer, _ = load_peer(directory)
    expected = reference_logits(peer, tokens)
    np.testing.assert_allclose(last_logits(model, tokens), expected, atol=1e-4 * np.abs(expected).max())


def test_quantised_weights_are_expanded_without_a_gpu(copied: Path) -> None:
    peer, config = load_peer(copied)
    nn.quantize(peer, group_size=32, bits=8)
    mx.save_safetensors(str(copied / "model.safetensors"), dict(tree_flatten(peer.parameters())))
    (copied / "config.json").write_text(json.dumps(config | {"quantization": {"group_size": 32, "bits": 8}}))
    lines: list[str] = []
    model = load_model(str(copied), name="tiny", progress=lines.append)
    assert any("quantised weights expanded" in line for line in lines)
    expected = np.array(peer(mx.array([[5, 6, 7]]))[0, -1])
    np.testing.assert_allclose(last_logits(model, [5, 6, 7]), expected, atol=1e-3)


def test_an_unknown_dtype_is_refused(tiny_model_directory: Directories) -> None:
    with pytest.raises(InvalidArgumentError, match="'int3' is none of auto"):
        load(tiny_model_directory("llama"), dtype="int3")


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_precision_is_close_to_single(dtype: str, tiny_model_directory: Directories) -> None:
    directory = tiny_model_directory("llama")
    exact, rounded = (last_logits(load(directory, dtype=kind), [5, 6, 7]) for kind in ("float32", dtype))
    np.testing.assert_allclose(rounded, exact, atol=0.1 * np.abs(exact).max())


def test_other_weights_are_another_identity(tiny_model_directory: Directories, tmp_path: Path) -> None:  # K1
    directory = tiny_model_directory("llama")
    again, half = load(directory), load(directory, dtype="float16")
    other = load(write_tiny_model(tmp_path / "other", "llama", seed=1))
    assert load(directory).identity == again.identity
    assert len({again.identity, half.identity, other.identity}) == 3


def test_end_of_sequence_ids_come_from_every_source(copied: Path) -> None:
    (copied / "generation_config.json").write_text(json.dumps({"eos_token_id": [1, 7]}))
    assert load(copied).eos_token_ids == (1, 2, 7)


def test_a_pool_that_does_not_fit_is_refused_with_the_numbers(tiny_model_directory: Directories) -> None:
    model = load(tiny_model_directory("llama"))
    with pytest.raises(OutOfPagesError, match=r"1,000,000,000 pages take .* GiB") as raised:
        model.allocate(pages=10**9)
    assert raised.value.needed == 10**9
    assert 0 < raised.value.capacity < 10**9


def test_a_pool_is_needed_before_a_step(tiny_model_directory: Directories) -> None:
    with pytest.raises(OutOfPagesError, match="nothing is allocated"):
        _ = load(tiny_model_directory("llama")).pool


def test_the_null_model_ignores_what_else_is_in_the_batch() -> None:
    model = null_model()
    model.allocate(pages=16)
    alone, crowd = Driver(model), Driver(model)
    expected = alone.run([Work(alone.context(), [5, 6])])[0]
    together = crowd.run([Work(crowd.context(), [9, 9, 9]), Work(crowd.context(), [5, 6])])
    np.testing.assert_array_equal(together[1], expected)
    assert len(set(expected.tolist())) > model.vocabulary_size // 2
