"""A model of each architecture, written as GGUF and read again, is the model that it was."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gguf
import mlx.core as mx
import numpy as np
import pytest
from mlx_lm.utils import load_model

from pie_mlx.engine.model.gguf.configuration import llama3_factors
from pie_mlx.engine.model.gguf.convert import convert
from pie_mlx.errors import ModelLoadError
from tests.gguf_files import ARCHITECTURES, Changed, write_gguf
from tests.models import write_tiny_model

OPTIONS: dict[str, dict[str, Any]] = {
    "llama": {"num_key_value_heads": 2},
    "mistral": {"num_key_value_heads": 2, "tie_word_embeddings": False},
    "smollm3": {"num_key_value_heads": 2},
    "gemma2": {"query_pre_attn_scalar": 16},
    "gemma3_text": {"query_pre_attn_scalar": 16},
    "granite": {"logits_scaling": 2.0, "embedding_multiplier": 3.0, "residual_multiplier": 0.5},
}
LONG = list(range(3, 27))
"""Longer than the windows of the tiny models."""


def logits(directory: Path) -> np.ndarray[Any, Any]:
    model, _ = load_model(directory)
    return np.array(model(mx.array([LONG])).astype(mx.float32))


def converted(file: Path, **options: Any) -> Path:
    directory = file.with_suffix("")
    directory.mkdir()
    convert(file, directory, **options)
    return directory


@pytest.fixture
def written(tmp_path: Path) -> Callable[..., tuple[Path, Path]]:
    """A tiny model, and its GGUF file."""

    def write(architecture: str, change: Changed = lambda _: None, **options: Any) -> tuple[Path, Path]:
        model = write_tiny_model(tmp_path / "original", architecture, **{**OPTIONS.get(architecture, {}), **options})
        return model, write_gguf(model, tmp_path / "model.gguf", change=change)

    return write


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_a_model_of_each_architecture_computes_what_the_original_does(
    architecture: str, written: Callable[..., tuple[Path, Path]]
) -> None:
    model, file = written(architecture)
    assert np.abs(logits(converted(file, dtype="float32")) - logits(model)).max() < 2e-5


@pytest.mark.parametrize("scaling", [{"type": "linear", "factor": 4.0}, {"type": "yarn", "factor": 4.0}])
def test_stretched_rotations_are_kept(scaling: dict[str, Any], written: Callable[..., tuple[Path, Path]]) -> None:
    if scaling["type"] == "yarn":
        scaling |= {"original_max_position_embeddings": 128}

    def change(writer: gguf.GGUFWriter) -> None:
        writer.add_rope_scaling_type(gguf.RopeScalingType(scaling["type"]))
        writer.add_rope_scaling_factor(scaling["factor"])
        writer.add_rope_scaling_orig_ctx_len(128)

    model, file = written("qwen2", change, rope_scaling=scaling)
    assert np.abs(logits(converted(file, dtype="float32")) - logits(model)).max() < 2e-5


LLAMA3 = {
    "rope_type": "llama3",
    "factor": 32.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 8192,
}


def test_the_rotations_of_llama_3_are_found_from_its_factors(written: Callable[..., tuple[Path, Path]]) -> None:
    factors = llama3_factors(500_000.0, 16, LLAMA3).astype(np.float32)
    model, file = written(
        "llama",
        lambda writer: writer.add_tensor("rope_freqs.weight", factors),
        rope_theta=500_000.0,
        rope_scaling=LLAMA3,
    )
    assert np.abs(logits(converted(file, dtype="float32")) - logits(model)).max() < 2e-5


def test_other_factors_are_refused(written: Callable[..., tuple[Path, Path]]) -> None:
    factors = np.linspace(1, 7, 8, dtype=np.float32)
    _, file = written("llama", lambda writer: writer.add_tensor("rope_freqs.weight", factors))
    with pytest.raises(ModelLoadError, match="rope_freqs are not those of Llama 3"):
        converted(file)


def test_long_and_short_factors_of_phi_are_kept(written: Callable[..., tuple[Path, Path]]) -> None:
    long, short = np.linspace(1, 3, 4, dtype=np.float32), np.linspace(1, 2, 4, dtype=np.float32)

    def change(writer: gguf.GGUFWriter) -> None:
        writer.add_tensor("rope_factors_long.weight", long)
        writer.add_tensor("rope_factors_short.weight", short)
        writer.add_rope_scaling_orig_ctx_len(128)

    scaling = {"type": "longrope", "long_factor": long.tolist(), "short_factor": short.tolist()}
    model, file = written("phi3", change, rope_scaling=scaling, original_max_position_embeddings=128)
    assert np.abs(logits(converted(file, dtype="float32")) - logits(model)).max() < 2e-5


def test_an_embedding_that_is_also_the_head_is_not_stored_twice(written: Callable[..., tuple[Path, Path]]) -> None:
    _, file = written("llama")
    directory = converted(file)
    assert json.loads((directory / "config.json").read_text())["tie_word_embeddings"] is True
    assert "lm_head.weight" not in mx.load(str(directory / "model-00001.safetensors"))


def test_an_architecture_that_is_not_read_is_named_with_those_that_are(tmp_path: Path) -> None:
    writer = gguf.GGUFWriter(tmp_path / "model.gguf", "mamba")
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    with pytest.raises(ModelLoadError, match=r"'mamba' is not read from GGUF \(it can be: llama, qwen2"):
        converted(tmp_path / "model.gguf")


def test_a_tensor_of_no_parameter_is_refused(written: Callable[..., tuple[Path, Path]]) -> None:
    _, file = written("llama", lambda writer: writer.add_tensor("blk.0.extra.weight", np.zeros(4, np.float32)))
    with pytest.raises(ModelLoadError, match="1 of its tensors are none of a llama"):
        converted(file)
