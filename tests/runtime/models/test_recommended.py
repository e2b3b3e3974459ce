import json
from typing import Any

import pytest

from pie_mlx.engine.model.loading.sources import EMBEDDED
from pie_mlx.runtime.models import fitting
from pie_mlx.runtime.models.recommended import RECOMMENDED, Shape

GIB = 1 << 30


def shape_of(config: dict[str, Any], bits: float) -> Shape:
    return Shape(
        layers=config["num_hidden_layers"],
        hidden=config["hidden_size"],
        heads=config["num_attention_heads"],
        kv_heads=config["num_key_value_heads"],
        head_width=config["head_dim"],
        inner=config["intermediate_size"],
        vocabulary=config["vocab_size"],
        tied=config["tie_word_embeddings"],
        bits=bits,
    )


def test_the_bytes_of_a_shape_are_those_of_a_directory_of_it():
    directory = EMBEDDED / "pie-tiny"
    shape = shape_of(json.loads((directory / "config.json").read_bytes()), bits=16)
    assert shape.weight_bytes == pytest.approx((directory / "model.safetensors").stat().st_size, rel=0.01)


def test_recommended_models_have_the_parameters_of_their_names():
    billions = {one.repo: one.shape.weight_bytes * 8 / one.shape.bits / 1e9 for one in RECOMMENDED}
    assert billions["mlx-community/Qwen3-8B-4bit"] == pytest.approx(8.19, rel=0.01)
    assert billions["mlx-community/Qwen3-30B-A3B-4bit"] == pytest.approx(30.5, rel=0.01)
    assert billions["mlx-community/Llama-3.3-70B-Instruct-4bit"] == pytest.approx(70.6, rel=0.01)
    sizes = [one.weight_bytes for one in RECOMMENDED]
    assert sizes == sorted(sizes, reverse=True)


def test_what_fits_leaves_a_tenth_of_the_memory_and_the_largest_comes_first():
    found = fitting(16 * GIB, 8192)
    assert found[0].repo == "mlx-community/gpt-oss-20b-MXFP4-Q8"
    assert all(one.needed_bytes(8192) <= 14.4 * GIB for one in found)


def test_a_longer_context_needs_more():
    assert len(fitting(8 * GIB, 100_000)) < len(fitting(8 * GIB, 1000))


def test_nothing_fits_a_machine_without_memory():
    assert fitting(0, 1) == []
