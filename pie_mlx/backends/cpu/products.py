"""Products of few rows with a model's matrices, without the copies that OpenBLAS would make.

OpenBLAS packs a large matrix anew for every product, which takes longer than a one-row product itself. Its AVX-512
kernels read small matrices in place. As a stack of small blocks, a matrix of any size is read at memory speed by one
thread: 3,072 x 768 takes 0.24 ms instead of 1.04 ms with two threads.
"""

import functools
import math
from dataclasses import dataclass
from typing import Any, cast

import mlx.core as mx
from mlx import nn  # pyright: ignore[reportMissingTypeStubs]

from pie_mlx.backends.cpu.numerics import IN_PLACE

_nn = cast("Any", nn)
_PROJECTIONS: tuple[type, ...] = (_nn.Linear, _nn.Embedding)

MOST_ROWS = 8
"""With eight rows one thread is still as fast as two threads that copy first; with 16 it is not."""

TOGETHER = 4
"""Rows per product. The others follow while their block is in the cache."""

ALL_TOGETHER = 1 << 10
"""Width up to which a product has all MOST_ROWS rows: its blocks are of half as many columns, which takes no longer for
fewer rows and a quarter less for more (192 columns, measured)."""

_MOST_FACTORS = 1_000_000
"""Most multiplications for which OpenBLAS uses its small-matrix kernels, 100³, besides the IN_PLACE limit
(measured)."""


def multiply_in_blocks(model: Any) -> None:
    """Makes the projections of `model`, and embeddings used as output heads, multiply few rows block by block.

    Only the classes of the modules change, so parameter names stay the same.
    """
    modules = cast("list[tuple[str, Any]]", model.named_modules())
    for _, module in modules:
        if issubclass(kind := cast("Any", type(module)), _PROJECTIONS):
            module.__class__, module.blocks = _in_blocks(kind), _Known()


@dataclass(frozen=True, slots=True)
class Blocks:
    """A matrix [out, width] as blocks `pile` [count, 1, width, columns] and a `rest` [fewer than columns, width]."""

    pile: mx.array
    rest: mx.array | None

    @staticmethod
    def of(matrix: mx.array) -> "Blocks | None":
        """Views of the matrix; None if one block would cover all of it."""
        out, width = matrix.shape
        most = max(1, min(IN_PLACE, _MOST_FACTORS // width) // _together(width))
        if out <= most:
            return None
        columns = next((size for size in range(most, most // 2, -1) if out % size == 0), most)
        whole = out - out % columns
        pile = mx.unflatten(matrix[:whole], 0, (-1, 1, columns)).swapaxes(2, 3)
        return Blocks(pile, matrix[whole:] if whole < out else None)

    def multiply(self, x: mx.array) -> mx.array:
        """`x` [..., width] times the matrix, [..., out]."""
        rows = x.flatten(0, -2)
        products = self._piled(rows)
        if self.rest is not None:
            products = mx.concatenate([products, rows @ self.rest.T], axis=1)
        return mx.unflatten(products, 0, x.shape[:-1])

    def _piled(self, rows: mx.array) -> mx.array:
        count, width = rows.shape
        if count > (together := _together(width)):
            rows = mx.unflatten(mx.pad(rows, [(0, -count % together), (0, 0)]), 0, (-1, together))
        return (rows @ self.pile).flatten(1, 2)[:, :count].swapaxes(0, 1).flatten(1)


def _together(width: int) -> int:
    return MOST_ROWS if width <= ALL_TOGETHER else TOGETHER


class _Known:
    """Caches the blocks of a module's matrix until the matrix is replaced."""

    def __init__(self) -> None:
        self._matrix: mx.array | None = None
        self._blocks: Blocks | None = None

    def of(self, matrix: mx.array) -> Blocks | None:
        if matrix is not self._matrix:
            self._matrix, self._blocks = matrix, Blocks.of(matrix)
        return self._blocks


@functools.cache
def _in_blocks(original: Any) -> type:
    method = "as_linear" if issubclass(original, _nn.Embedding) else "__call__"
    project = getattr(original, method)

    def projected(self: Any, x: mx.array) -> mx.array:
        matrix: mx.array = self.weight
        out, width = matrix.shape
        rows = math.prod(x.shape[:-1])
        # Few rows, and more than a kernel would take with the whole matrix.
        small = rows * out <= IN_PLACE and rows * out * width <= _MOST_FACTORS
        few = 0 < rows <= MOST_ROWS and not small and x.dtype == matrix.dtype == mx.float32
        blocks = self.blocks.of(matrix) if few else None
        if blocks is None:
            return project(self, x)
        return blocks.multiply(x) + self.bias if "bias" in self else blocks.multiply(x)

    return type(original.__name__, (original,), {method: projected})
