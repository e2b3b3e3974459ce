"""Products of few rows with the matrices of a model, where OpenBLAS would copy them first.

It packs a large matrix anew for every product, which for one row takes longer than the product itself. Small ones its
kernels for AVX-512 read where they lie. Seen as a pile of small blocks, a matrix of any size is read at the speed of
memory, by one thread: 3,072 x 768 takes 0.24 ms instead of 1.04 with two.
"""

import math
from typing import Any, cast

import mlx.core as mx

from pie_mlx.engine.model.modules import EMBEDDING, PLAIN_LINEAR, SWITCH, Module

MOST_ROWS = 8
"""With eight one thread still is as fast as two that copy first, with 16 it is not."""

TOGETHER = 4
"""Rows that one product has; the others follow while its block is in the cache."""

_MOST_RESULTS, _MOST_FACTORS = 1024, 1_000_000
"""What OpenBLAS leaves to those kernels: entries of the result (measured), and products of two numbers (100³)."""

_FEWEST_COLUMNS = 8


def take_blocks(model: Module) -> bool:
    """Let the projections of `model` multiply few rows block by block; whether that goes for all of its matrices.

    The classes of the modules are replaced, so that the tree of parameters keeps its names.
    """
    modules = [module for _, module in model.named_modules()]
    for module in modules:
        if isinstance(module, (PLAIN_LINEAR, EMBEDDING)):
            _override(module)
    return not any(isinstance(module, SWITCH) for module in modules)


def blocks(matrix: mx.array) -> mx.array | None:
    """`matrix` [out, width] as [count, 1, width, columns], without a copy; None where no size of blocks fits."""
    out, width = matrix.shape
    most = min(_MOST_RESULTS, _MOST_FACTORS // width) // TOGETHER
    columns = next((size for size in range(min(most, out), 0, -1) if out % size == 0), 0)
    if columns == out or columns < _FEWEST_COLUMNS:
        return None
    return mx.unflatten(matrix, 0, (-1, 1, columns)).swapaxes(2, 3)


def multiply(x: mx.array, pile: mx.array) -> mx.array:
    """`x` [..., width] times the matrix whose `blocks` are `pile`; [..., out]."""
    rows = x.flatten(0, -2)
    count = rows.shape[0]
    if count > TOGETHER:
        rows = mx.unflatten(mx.pad(rows, [(0, -count % TOGETHER), (0, 0)]), 0, (-1, TOGETHER))
    products = (rows @ pile).flatten(1, 2)[:, :count]
    return mx.unflatten(products.swapaxes(0, 1).flatten(1), 0, x.shape[:-1])


def _override(module: Module) -> None:
    original = cast("Any", type(module))
    method = "as_linear" if isinstance(module, EMBEDDING) else "__call__"
    project, known = getattr(original, method), _Blocks()

    def projected(self: Any, x: mx.array) -> mx.array:
        pile = known.of(self.weight) if _is_few(x, self.weight) else None
        if pile is None:
            return project(self, x)
        return multiply(x, pile) + self.bias if "bias" in self else multiply(x, pile)

    module.__class__ = type(original.__name__, (original,), {method: projected})


class _Blocks:
    """The blocks of a module's matrix, which may be exchanged."""

    def __init__(self) -> None:
        self._matrix: mx.array | None = None
        self._pile: mx.array | None = None

    def of(self, matrix: mx.array) -> mx.array | None:
        if matrix is not self._matrix:
            self._matrix, self._pile = matrix, blocks(matrix)
        return self._pile


def _is_few(x: mx.array, matrix: mx.array) -> bool:
    """Whether there are few rows, and more than a kernel would take with the whole matrix."""
    rows, results = math.prod(x.shape[:-1]), matrix.shape[0] * math.prod(x.shape[:-1])
    small = results <= _MOST_RESULTS and results * matrix.shape[1] <= _MOST_FACTORS
    return 0 < rows <= MOST_ROWS and not small and x.dtype == matrix.dtype == mx.float32
