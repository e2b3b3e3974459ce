import json

import pytest

from benchmarks.tiny_encoders import write_tiny_encoder
from pie_mlx.errors import ModelNotFoundError
from pie_mlx.runtime.models import embedded_models, find_cached, suitability


@pytest.fixture
def directory(tiny_model_directory, tmp_path):
    """A copy of a whole tiny model."""
    for file in tiny_model_directory("llama").iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    return tmp_path


def change(directory, **keys):
    file = directory / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | keys))


def test_a_whole_model_can_be_loaded(directory):
    found = suitability(directory)
    assert (found.problem, found.architecture, found.tier) == ("", "llama", "paged tokens")
    assert (found.maximum_positions, found.quantization) == (512, "")
    assert found.weight_bytes == (directory / "model.safetensors").stat().st_size


def test_a_latent_is_all_that_a_token_takes(directory):
    change(directory, model_type="deepseek_v3", num_hidden_layers=61, kv_lora_rank=512, qk_rope_head_dim=64)
    assert suitability(directory).kv_bytes_per_token == 61 * 576 * 2


def test_what_the_engine_does_not_do_for_an_architecture_is_told_with_its_reason(directory):
    assert suitability(directory).lacks == ()
    change(directory, model_type="plamo")
    assert [(promise, "arrays" in reason) for promise, reason in suitability(directory).lacks] == [("ragged", True)]


def test_quantization_is_told(directory):
    change(directory, quantization={"bits": 4, "group_size": 32})
    assert suitability(directory).quantization == "4 bits, groups of 32"


def test_an_architecture_goes_by_the_name_of_what_implements_it(directory):
    change(directory, model_type="mistral")
    assert (suitability(directory).architecture, suitability(directory).problem) == ("llama", "")


def test_an_architecture_that_was_never_compared_has_no_tier(directory):
    change(directory, model_type="gpt99")
    found = suitability(directory)
    assert (found.tier, found.problem) == ("", "mlx-lm does not support the architecture gpt99")


def test_an_encoder_can_be_loaded_and_keeps_nothing_per_token(tmp_path):
    found = suitability(write_tiny_encoder(tmp_path, "modernbert"))
    assert (found.problem, found.architecture, found.kv_bytes_per_token) == ("", "modernbert", 0)
    assert found.tier.startswith("encoder")
    change(tmp_path, is_decoder=True)
    assert "is a decoder" in suitability(tmp_path).problem


def test_an_empty_directory_is_no_model(tmp_path):
    assert suitability(tmp_path).problem == "holds no config.json; name a model directory"


def test_every_embedded_model_can_be_loaded():
    assert [(model.name, model.suitability.problem) for model in embedded_models()] == [("pie-tiny", "")]


def test_a_model_that_is_not_here_is_said_so():
    with pytest.raises(ModelNotFoundError, match="nobody/nothing is not on this disk"):
        find_cached("nobody/nothing")
