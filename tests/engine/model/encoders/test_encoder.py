"""Encoders compute what transformers computes."""

import json
from pathlib import Path
from typing import Any

import mlx.core as mx
import numpy as np
import pytest

from benchmarks.tiny_encoders import TEXTS, WIDTH, write_tiny_encoder
from pie_mlx.engine.model.encoders.encoder import EncoderInput
from pie_mlx.engine.model.encoders.pageless import EncoderNetwork
from pie_mlx.engine.model.loading.load import load_model
from pie_mlx.errors import InvalidArgumentError, ModelLoadError
from tests.engine.model.encoders.reference import KINDS, PATH

REFERENCE = json.loads(PATH.read_text())


def loaded(folder: Path, **options: Any) -> EncoderNetwork:
    network = load_model(str(folder), name="tiny", dtype="float32", **options).network
    assert isinstance(network, EncoderNetwork)
    return network


def pair(tokens: list[int]) -> EncoderInput:
    """[CLS] a [SEP] b [SEP]: the second text begins behind the first separator."""
    return EncoderInput(tokens, tokens.index(tokens[-1]) + 1)


@pytest.mark.parametrize("kind", KINDS)
def test_vectors_of_a_padded_batch_are_those_of_transformers(kind: str, tmp_path: Path) -> None:
    encoder, wanted = loaded(write_tiny_encoder(tmp_path, kind)).encoder, REFERENCE[kind]
    batch = [EncoderInput(tokens) for tokens in wanted["text_ids"]]
    for reading in ("cls", "mean", "last", "max"):
        np.testing.assert_allclose(encoder.compute(batch, reading), wanted[reading], atol=2e-5)
    alone = [encoder.compute([one], "mean")[0] for one in batch]
    np.testing.assert_allclose(alone, wanted["mean"], atol=2e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_scores_of_pairs_are_those_of_transformers(kind: str, tmp_path: Path) -> None:
    encoder, wanted = loaded(write_tiny_encoder(tmp_path, kind, labels=1, seed=1)).encoder, REFERENCE[kind]
    found = encoder.compute([pair(tokens) for tokens in wanted["pair_ids"]], "score")
    assert found.shape == (2, encoder.labels)
    np.testing.assert_allclose(found, wanted["score"], atol=2e-5)


def test_quantised_weights_are_read(tmp_path: Path) -> None:
    folder = write_tiny_encoder(tmp_path, "bert")
    weights, config = mx.load(str(folder / "model.safetensors")), json.loads((folder / "config.json").read_text())
    name = "encoder.layer.0.intermediate.dense"
    packed = dict(zip(("weight", "scales", "biases"), mx.quantize(weights[f"{name}.weight"], 32, 8), strict=True))
    weights |= {f"{name}.{part}": array for part, array in packed.items()}
    mx.save_safetensors(str(folder / "model.safetensors"), weights, metadata={"format": "mlx"})
    (folder / "config.json").write_text(json.dumps(config | {"quantization": {"group_size": 32, "bits": 8}}))
    batch = [EncoderInput(tokens) for tokens in REFERENCE["bert"]["text_ids"]]
    found, wanted = loaded(folder).encoder.compute(batch, "mean"), np.array(REFERENCE["bert"]["mean"])
    assert 1e-5 < abs(found - wanted).max() < 0.1


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"num_hidden_layers": 4}, "num_hidden_layers|lack"),
        ({"hidden_size": 33}, "hidden_size"),
        ({"hidden_act": "swish9"}, "swish9"),
        ({"position_embedding_type": "relative_key"}, "relative positions"),
        ({"is_decoder": True}, "is a decoder"),
        ({"vocab_size": "many"}, "vocab_size"),
        ({"layer_norm_eps": None}, "layer_norm_eps"),
    ],
)
def test_what_cannot_be_built_is_refused(change: dict[str, Any], words: str, tmp_path: Path) -> None:
    folder = write_tiny_encoder(tmp_path, "bert")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | change))
    with pytest.raises(ModelLoadError, match=words):
        loaded(folder)


def test_it_has_no_logits(tmp_path: Path) -> None:
    network: Any = loaded(write_tiny_encoder(tmp_path, "bert"))
    assert len(TEXTS) == len(REFERENCE["bert"]["mean"])
    assert network.encoder.width == WIDTH
    with pytest.raises(InvalidArgumentError, match="makes no text"):
        network.forward(None, None)
