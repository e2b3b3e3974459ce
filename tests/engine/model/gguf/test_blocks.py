"""Blocks of each type become groups of MLX that mean the same, or nearly."""

from pathlib import Path
from typing import Any

import mlx.core as mx
import numpy as np
import pytest
from gguf import GGML_QUANT_SIZES, GGMLQuantizationType, quants

from pie_mlx.engine.model.gguf.blocks import Grouped, read_tensor
from pie_mlx.engine.model.gguf.header import Tensor
from pie_mlx.errors import ModelLoadError

ROWS, COLUMNS = 6, 512
HALVES = {
    "Q4_0": [0],
    "Q4_1": [0, 2],
    "Q5_0": [0],
    "Q5_1": [0, 2],
    "Q8_0": [0],
    "Q2_K": [80, 82],
    "Q3_K": [108],
    "Q4_K": [0, 2],
    "Q5_K": [0, 2],
    "Q6_K": [208],
    "IQ4_NL": [0],
    "IQ4_XS": [0],
}
"""Where the blocks of a type have floats of two bytes."""


def tensor_of(kind: str, folder: Path) -> tuple[Tensor, np.ndarray[Any, Any]]:
    """A tensor of random blocks in a file, and its values by the gguf package."""
    block, size = GGML_QUANT_SIZES[GGMLQuantizationType[kind]]
    random = np.random.default_rng(0)
    blocks = random.integers(0, 256, (ROWS, COLUMNS // block, size), np.uint8)
    for place in HALVES.get(kind, []):
        floats = random.uniform(0.001, 0.01, (ROWS, COLUMNS // block, 1)).astype("<f2")
        blocks[..., place : place + 2] = floats.view(np.uint8)
    if kind == "MXFP4":
        blocks[..., 0] = random.integers(118, 130, blocks.shape[:-1])
    file = folder / kind
    file.write_bytes(b"header" + blocks.tobytes())
    values = quants.dequantize(blocks.reshape(ROWS, -1), GGMLQuantizationType[kind])
    return Tensor(kind, kind, (ROWS, COLUMNS), file, len(b"header"), blocks.nbytes), values


def values_of(part: Grouped) -> np.ndarray[Any, Any]:
    assert part.codes is not None
    group, bits, mode = part.settings
    biases = None if part.biases is None else part.biases.astype(mx.float32)
    scales = part.scales.astype(mx.float32) if mode == "affine" else part.scales
    found = mx.dequantize(part.codes, scales, biases, group_size=group, bits=bits, mode=mode)
    return np.array(found.astype(mx.float32))


@pytest.mark.parametrize("kind", ["Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "MXFP4"])
def test_types_with_groups_of_32_are_kept_exactly(kind: str, tmp_path: Path) -> None:
    tensor, values = tensor_of(kind, tmp_path)
    part = read_tensor(tensor, mx.float16, order=None, dequantise=False)
    assert np.abs(values_of(part) - values).max() < 1e-6
    assert part.error < 1e-6


@pytest.mark.parametrize("kind", ["Q4_K", "Q5_K"])
def test_super_blocks_are_kept_but_for_the_rounding_of_their_scales(kind: str, tmp_path: Path) -> None:
    tensor, values = tensor_of(kind, tmp_path)
    exact = read_tensor(tensor, mx.float32, order=None, dequantise=False)
    assert np.abs(values_of(exact) - values).max() < 1e-5
    assert read_tensor(tensor, mx.float16, order=None, dequantise=False).error < 0.001


@pytest.mark.parametrize(
    ("kind", "bits", "most"),
    [("Q2_K", 5, 0.05), ("Q3_K", 6, 0.02), ("Q6_K", 8, 0.006), ("IQ4_NL", 8, 0.006), ("IQ4_XS", 8, 0.006)],
)
def test_other_types_are_quantised_again_with_the_error_that_is_told(
    kind: str, bits: int, most: float, tmp_path: Path
) -> None:
    tensor, values = tensor_of(kind, tmp_path)
    part = read_tensor(tensor, mx.float16, order=None, dequantise=False)
    assert part.settings == (32, bits, "affine")
    changed = np.sqrt(np.square(values_of(part) - values).mean() / np.square(values).mean())
    assert part.error == pytest.approx(changed, rel=1e-3)
    assert changed < most


def test_dequantised_a_tensor_has_the_values_of_the_gguf_package(tmp_path: Path) -> None:
    tensor, values = tensor_of("Q6_K", tmp_path)
    part = read_tensor(tensor, mx.float32, order=None, dequantise=True)
    assert part.codes is None
    assert np.array_equal(np.array(part.scales), values)


def test_a_large_tensor_is_the_same_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tensor, values = tensor_of("Q5_1", tmp_path)
    monkeypatch.setattr("pie_mlx.engine.model.gguf.blocks.CHUNK", 4 * COLUMNS)
    assert np.abs(values_of(read_tensor(tensor, mx.float16, order=None, dequantise=False)) - values).max() < 1e-6


def test_rows_come_in_the_order_that_is_asked_for(tmp_path: Path) -> None:
    tensor, values = tensor_of("Q8_0", tmp_path)
    order = np.array([3, 1, 0, 2, 5, 4])
    found = values_of(read_tensor(tensor, mx.float16, order=order, dequantise=False))
    assert np.abs(found - values[order]).max() < 1e-6


def test_a_file_that_is_cut_while_it_is_read_is_told(tmp_path: Path) -> None:
    tensor, _ = tensor_of("Q8_0", tmp_path)
    with tensor.path.open("r+b") as file:
        file.truncate(100)
    with pytest.raises(ModelLoadError, match="ends within the tensor 'Q8_0'"):
        read_tensor(tensor, mx.float16, order=None, dequantise=False)
