"""A CPU as what computes."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

import mlx.core as mx
import numpy as np
import numpy.typing as npt

from pie_mlx.backends.base import ALL_THREADS, Backend
from pie_mlx.backends.cpu import rotation, sampling
from pie_mlx.backends.cpu.blas import blas
from pie_mlx.backends.cpu.pool import CpuPool
from pie_mlx.backends.cpu.products import MOST_ROWS, take_blocks
from pie_mlx.backends.memory import SHARED_POOL_BYTES
from pie_mlx.metal.page_pool.pool import LayerShape

ONE_THREAD = 1

SMALL_MATRIX, FEW_ROWS = 1 << 18, 64
"""Entries of a layer's matrix and rows of a step, up to which one thread computes a product as soon as two: the others
are left to planning, grammars and programs. Matrices of half a million entries took 9 % longer."""

EARLY_LAYERS, FEWEST_LAYERS = 3, 6
"""Layers of a step that begin before the step before it has ended, and how many a model must have for that.

In a pool that is written in place only while nothing else reads, a layer must not be written before its reads in the
step before have ended. MLX's CPU backend has at most 120 dispatches in flight, and a layer of a Llama takes as many.
"""


class CpuBackend(Backend):
    """MLX's operations on a CPU, and what makes them faster there."""

    float32_only = True
    copies_layers = False
    largest_pool_bytes = SHARED_POOL_BYTES

    @property
    def name(self) -> str:
        return "CPU"

    def prepare(self) -> str:
        """Has products computed by the fastest BLAS there is."""
        return blas().name

    def adapt(self, model: Any) -> None:
        """Rotations share their angles, and products of few rows read matrices in blocks where that is faster."""
        rotation.install()
        if blas().copies_large_matrices:
            take_blocks(model)

    def rotating(self, positions: mx.array | int | None) -> AbstractContextManager[None]:
        """Rotations at these very `positions` share their angles."""
        return rotation.rotating(positions)

    def product_threads(self, rows: int, *, largest_matrix: int, experts: bool) -> int:
        """One for small products, and for those block by block, which need no more."""
        small = largest_matrix <= SMALL_MATRIX and rows <= FEW_ROWS
        in_blocks = blas().copies_large_matrices and not experts and rows <= MOST_ROWS
        return ONE_THREAD if small or in_blocks else ALL_THREADS

    def take_threads(self, count: int) -> None:
        """Those of OpenBLAS, where it is ours."""
        blas().take_threads(count)

    def early_layers(self, layers: int) -> int:
        """A few of a model that has many."""
        return EARLY_LAYERS if layers >= FEWEST_LAYERS else 0

    def operations_pool(self, shapes: Sequence[LayerShape], *, pages: int, page_size: int, dtype: mx.Dtype) -> CpuPool:
        """Heads apart, layers begun early."""
        return CpuPool(shapes, pages=pages, page_size=page_size, dtype=dtype)

    def forbid(self, logits: mx.array, masks: npt.NDArray[np.uint32]) -> mx.array:
        """By upper limits."""
        return sampling.forbid(logits, masks)

    def likelihoods(self, logits: mx.array, temperature: mx.array) -> mx.array:
        """By powers of two."""
        return sampling.likelihoods(logits, temperature)
