"""Weights come into memory in pieces."""

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from pie_mlx.engine.model.loading.load import load_network, read_config
from pie_mlx.engine.model.loading.sources import weight_files
from pie_mlx.engine.model.mlx_lm import weights
from pie_mlx.engine.model.mlx_lm.modules import parameters_of

PIECE_BYTES = 40_000


def test_a_piece_is_small_or_a_single_tensor(
    tiny_model_directory: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(weights, "PIECE_BYTES", PIECE_BYTES)
    directory = tiny_model_directory("llama")
    model = load_network(directory, weight_files(directory), read_config(directory), lazy=True)
    pauses = list(weights.casting_weights(model, "float32", lambda line: None))
    sizes = [after.loaded_bytes - before.loaded_bytes for before, after in pairwise(pauses)]
    single = {array.nbytes for _, array in parameters_of(model)}
    assert len(sizes) > 3
    assert all(size <= PIECE_BYTES or size in single for size in sizes)
    assert {pause.total_bytes for pause in pauses} == {sum(sizes)} == {weights.weight_bytes(model)}
