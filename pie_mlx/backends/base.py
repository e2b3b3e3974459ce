"""The interface between the engine and the device that computes."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import mlx.core as mx
import numpy as np
import numpy.typing as npt

from pie_mlx.backends.device import available_bytes
from pie_mlx.metal.launcher import KernelLauncher
from pie_mlx.metal.page_pool.kernel_pool import KernelPool, kernels_carry
from pie_mlx.metal.page_pool.pool import KvPool
from pie_mlx.metal.page_pool.shapes import LayerShape

Progress = Callable[[str], None]

ALL_THREADS = 0


class Backend:
    """A GPU that computes everything in MLX operations. Other devices override what differs.

    One backend serves the whole process. `float32_only`: MLX is fast only in float32, so weights in other formats are
    expanded to it. `copies_layers`: the copies of pages that several layers read exist at the same time.
    `largest_pool_bytes` limits a pool whose size is not configured. `compiles`: MLX makes one kernel of many operations
    quickly.
    """

    float32_only = False
    copies_layers = True
    compiles = True
    largest_pool_bytes: int | None = None

    @property
    def name(self) -> str:
        """The name of the device, for display."""
        return f"{mx.device_info().get('device_name', 'unknown')} GPU"

    def prepare(self) -> str:
        """Prepares the process to compute. Call it before a model is loaded. Returns the name of the matrix library."""
        return self.name

    def adapt(self, model: Any) -> None:
        """Changes how the modules of `model` compute. Results and parameter names stay the same."""

    def rotating(self, positions: mx.array | int | None) -> AbstractContextManager[None]:
        """Wraps the construction of a step. Its rows are single tokens at `positions` int32 [rows]; anything else means
        that they are not."""
        del positions
        return nullcontext()

    def product_threads(self, rows: int, *, largest_matrix: int, experts: bool) -> int:
        """Host threads for the matrix products of a step with `rows` rows. ALL_THREADS if unlimited.

        `largest_matrix` is the number of entries in a layer's largest matrix. `experts` says whether layers have
        experts, of which each row uses a few.
        """
        del rows, largest_matrix, experts
        return ALL_THREADS

    def set_threads(self, count: int) -> None:
        """Sets the number of host threads for later products."""

    def early_layers(self, layers: int) -> int:
        """How many layers of a step, in a model with `layers`, may begin while the previous step is computed.

        For pools without ordered writes. In ordered ones whole steps begin at once.
        """
        del layers
        return 0

    def memory_bytes(self) -> int:
        """Bytes this process may use: the system's recommendation for the GPU, otherwise the available memory."""
        recommended = mx.device_info().get("max_recommended_working_set_size")
        return available_bytes() if recommended is None else int(recommended)

    def allocate(
        self,
        shapes: Sequence[LayerShape],
        *,
        pages: int,
        page_size: int,
        dtype: mx.Dtype,
        progress: Progress | None = None,
    ) -> KvPool:
        """Allocates and evaluates a pool of `pages` pages for layers of these shapes. Uses kernels if they support
        these sizes.

        `progress` receives a line before anything slow.
        """
        launcher = self.launcher(progress)
        if launcher is not None and kernels_carry(launcher, shapes, page_size):
            return KernelPool(shapes, pages=pages, page_size=page_size, dtype=dtype, launcher=launcher)
        return self.operations_pool(shapes, pages=pages, page_size=page_size, dtype=dtype)

    def launcher(self, progress: Progress | None) -> KernelLauncher | None:
        """The launcher of the kernels that work here; None if there are none."""
        del progress
        return None

    def operations_pool(self, shapes: Sequence[LayerShape], *, pages: int, page_size: int, dtype: mx.Dtype) -> KvPool:
        """Like `allocate`, with MLX operations."""
        return KvPool(shapes, pages=pages, page_size=page_size, dtype=dtype)

    def forbid(self, logits: mx.array, masks: npt.NDArray[np.uint32]) -> mx.array:
        """`logits` [rows, vocabulary] with -inf where the token's bit in `masks` [rows, words] is 0."""
        bits = (mx.array(masks)[..., None] >> mx.arange(32, dtype=mx.uint32)) & 1
        allowed = bits.flatten(-2)[:, : logits.shape[-1]].astype(mx.bool_)
        return mx.where(allowed, logits, -mx.inf)

    def likelihoods(self, logits: mx.array, temperature: mx.array) -> mx.array:
        """Values proportional to the probabilities of each row of `logits` [rows, vocabulary] at `temperature` [rows,
        1]."""
        return mx.softmax(logits / temperature, axis=-1, precise=True)

    def largest(self, rows: mx.array) -> mx.array:
        """The largest of each of the `rows` [rows, width], [rows, 1]; NaN where one is."""
        return mx.max(rows, axis=-1, keepdims=True)

    def exponential(self, values: mx.array) -> mx.array:
        """e to the power of each value."""
        return mx.exp(values)

    def log_sum_exp(self, rows: mx.array) -> mx.array:
        """The logarithm of the sum of the powers of e of each of the `rows` [rows, width], [rows, 1]."""
        return mx.logsumexp(rows, axis=-1, keepdims=True)
