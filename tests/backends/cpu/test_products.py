"""Products of few rows, block by block."""

from typing import cast

import mlx.core as mx
import numpy as np
import pytest
from mlx import nn

from pie_mlx.backends.cpu.products import MOST_ROWS, Blocks, multiply_in_blocks
from pie_mlx.engine.model.mlx_lm.modules import Module, parameters_of


class Model(nn.Module):
    """A projection, and a vocabulary that is used as one."""

    def __init__(self, *, bias: bool = False) -> None:
        super().__init__()
        self.projection = nn.Linear(96, 3000, bias=bias)
        self.embedding = nn.Embedding(2050, 96)


def as_module(model: nn.Module) -> Module:
    return cast("Module", model)


def rows_of(count: int, width: int = 96) -> mx.array:
    return mx.array(np.random.default_rng(count).standard_normal((count, width), np.float32))


@pytest.mark.parametrize("rows", range(1, MOST_ROWS + 1))
@pytest.mark.parametrize(
    ("out", "width"), [(8000, 320), (768, 3072), (2048, 192), (50257, 64), (2050, 96), (257, 9), (3, 300_000)]
)
def test_products_with_the_blocks_are_those_with_the_matrix(out: int, width: int, rows: int) -> None:
    x, matrix = rows_of(rows, width), rows_of(out, width)
    blocks = Blocks.of(matrix)
    assert blocks is not None
    assert mx.allclose(blocks.multiply(x), x @ matrix.T, atol=1e-2)


def test_axes_before_the_last_stay_as_they_are() -> None:
    blocks = Blocks.of(rows_of(1000))
    assert blocks is not None
    assert blocks.multiply(rows_of(3)[:, None]).shape == (3, 1, 1000)


def test_a_small_matrix_has_no_blocks() -> None:
    assert Blocks.of(mx.zeros((128, 64))) is None


def test_blocks_are_no_copies() -> None:
    matrix = mx.zeros((50257, 64))
    mx.eval(matrix)
    before = mx.get_active_memory()
    blocks = Blocks.of(matrix)
    assert blocks is not None
    mx.eval(blocks.pile, blocks.rest)
    assert mx.get_active_memory() == before


@pytest.mark.parametrize("bias", [False, True])
def test_projections_give_the_same_for_any_number_of_rows(bias: bool) -> None:
    model = Model(bias=bias)
    inputs = [rows_of(count) for count in range(1, 2 * MOST_ROWS)]
    before = [(model.projection(x), model.embedding.as_linear(x)) for x in inputs]
    mx.eval(before)
    multiply_in_blocks(as_module(model))
    for x, (projected, scores) in zip(inputs, before, strict=True):
        assert mx.allclose(model.projection(x), projected, atol=1e-4)
        assert mx.allclose(model.embedding.as_linear(x), scores, atol=1e-4)


def test_many_rows_and_other_number_formats_are_multiplied_as_before() -> None:
    model, x = Model(), rows_of(MOST_ROWS + 1)
    before = model.projection(x), model.projection(x[:1].astype(mx.bfloat16))
    multiply_in_blocks(as_module(model))
    assert mx.array_equal(model.projection(x), before[0])
    assert mx.array_equal(model.projection(x[:1].astype(mx.bfloat16)), before[1])


def test_a_matrix_that_is_exchanged_is_used() -> None:
    model, x = Model(), rows_of(1)
    multiply_in_blocks(as_module(model))
    mx.eval(model.projection(x))
    model.projection.weight = mx.zeros((3000, 96))
    assert not mx.any(model.projection(x))


def test_parameters_keep_their_names() -> None:
    model = Model()
    before = [name for name, _ in parameters_of(as_module(model))]
    multiply_in_blocks(as_module(model))
    model.projection(rows_of(1))
    assert [name for name, _ in parameters_of(as_module(model))] == before
