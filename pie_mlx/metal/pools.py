"""Which pool carries the pages: the kernels' where they run and fit, else that of MLX operations."""

from collections.abc import Sequence

import mlx.core as mx

from pie_mlx.metal.backend import Backend
from pie_mlx.metal.kernel_pool import KernelPool, kernels_carry
from pie_mlx.metal.pool import KvPool, LayerShape


def page_pool(shapes: Sequence[LayerShape], *, pages: int, page_size: int, dtype: mx.Dtype, backend: Backend) -> KvPool:
    """A pool of `pages` pages for layers of these shapes, allocated and evaluated."""
    if kernels_carry(backend, shapes, page_size):
        return KernelPool(shapes, pages=pages, page_size=page_size, dtype=dtype, backend=backend)
    return KvPool(shapes, pages=pages, page_size=page_size, dtype=dtype)
