"""The CPU backend."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

import mlx.core as mx
import numpy as np
import numpy.typing as npt

from pie_mlx.backends.base import ALL_THREADS, Backend
from pie_mlx.backends.cpu import numerics, rotation
from pie_mlx.backends.cpu.blas import blas
from pie_mlx.backends.cpu.convolution import convolve_by_shifts
from pie_mlx.backends.cpu.pool import CpuPool
from pie_mlx.backends.cpu.products import MOST_ROWS, multiply_in_blocks
from pie_mlx.backends.device import SHARED_POOL_BYTES
from pie_mlx.metal.page_pool.shapes import LayerShape

ONE_THREAD = 1

SMALL_MATRIX, FEW_ROWS = 1 << 18, 64
"""Most matrix entries and rows of a step for which one thread is as fast as two. The other threads stay free for
planning, grammars and programs. A matrix of half a million entries took 9 % longer."""

EARLY_LAYERS, FEWEST_LAYERS = 3, 6
"""Layers of a step that begin before the previous step has ended, and the fewest layers a model needs for that.

In a pool without ordered writes, a layer must not be written before the previous step has read it. MLX's CPU backend
allows at most 120 dispatches in flight, about as many as one Llama layer needs.
"""


class CpuBackend(Backend):
    """MLX's operations on a CPU, with faster replacements."""

    float32_only = True
    copies_layers = False
    compiles = False  # MLX would run a C++ compiler, for seconds
    largest_pool_bytes = SHARED_POOL_BYTES

    @property
    def name(self) -> str:
        return "CPU"

    def prepare(self) -> str:
        """Selects the fastest BLAS available for matrix products."""
        return blas().name

    def adapt(self, model: Any) -> None:
        """Lets rotations share their angles, convolves by shifts, and lets products of few rows read matrices in blocks
        where that is faster."""
        rotation.install()
        convolve_by_shifts(model)
        if blas().copies_large_matrices:
            multiply_in_blocks(model)

    def rotating(self, positions: mx.array | int | None) -> AbstractContextManager[None]:
        """Lets rotations at these `positions` share their angles."""
        return rotation.rotating(positions)

    def product_threads(self, rows: int, *, largest_matrix: int, experts: bool) -> int:
        """One thread for small products and for products in blocks, which gain nothing from more."""
        small = largest_matrix <= SMALL_MATRIX and rows <= FEW_ROWS
        in_blocks = blas().copies_large_matrices and not experts and rows <= MOST_ROWS
        return ONE_THREAD if small or in_blocks else ALL_THREADS

    def set_threads(self, count: int) -> None:
        """Sets the threads of OpenBLAS, if we loaded it."""
        blas().set_threads(count)

    def early_layers(self, layers: int) -> int:
        """EARLY_LAYERS, if the model has enough layers."""
        return EARLY_LAYERS if layers >= FEWEST_LAYERS else 0

    def operations_pool(self, shapes: Sequence[LayerShape], *, pages: int, page_size: int, dtype: mx.Dtype) -> CpuPool:
        """A pool that stores heads contiguously and begins layers early."""
        return CpuPool(shapes, pages=pages, page_size=page_size, dtype=dtype)

    def forbid(self, logits: mx.array, masks: npt.NDArray[np.uint32]) -> mx.array:
        """Uses upper limits (`numerics.forbid`)."""
        return numerics.forbid(logits, masks)

    def likelihoods(self, logits: mx.array, temperature: mx.array) -> mx.array:
        """Uses powers of two (`numerics.likelihoods`)."""
        return numerics.likelihoods(logits, temperature)

    def largest(self, rows: mx.array) -> mx.array:
        """In two stages (`numerics.largest`)."""
        return numerics.largest(rows)

    def exponential(self, values: mx.array) -> mx.array:
        """Uses powers of two."""
        return numerics.exponential(values)

    def log_sum_exp(self, rows: mx.array) -> mx.array:
        """Uses powers of two."""
        top = numerics.largest(rows)
        return top + mx.log(mx.sum(numerics.exponential(rows - top), axis=-1, keepdims=True))
