"""What the engine asks of the device that computes."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import mlx.core as mx
import numpy as np
import numpy.typing as npt

from pie_mlx.backends.memory import available_bytes
from pie_mlx.metal.launcher import KernelLauncher
from pie_mlx.metal.page_pool.kernel_pool import KernelPool, kernels_carry
from pie_mlx.metal.page_pool.pool import KvPool, LayerShape

Progress = Callable[[str], None]

ALL_THREADS = 0


class Backend:
    """A GPU that computes everything in MLX operations. Other devices override what differs.

    One backend serves the whole process. `float32_only` tells whether MLX is fast in float32 alone: other weights are
    then expanded to it. `copies_layers` tells whether the copies of pages that several layers read exist at once.
    `largest_pool_bytes` bounds a pool whose size is not configured.
    """

    float32_only = False
    copies_layers = True
    largest_pool_bytes: int | None = None

    @property
    def name(self) -> str:
        """The device, for people."""
        return f"{mx.device_info().get('device_name', 'unknown')} GPU"

    def prepare(self) -> str:
        """Make the process ready to compute; call it before a model is loaded. Answers what multiplies matrices."""
        return self.name

    def adapt(self, model: Any) -> None:
        """Change how the modules of `model` compute, with the same results and names of parameters."""

    def rotating(self, positions: mx.array | int | None) -> AbstractContextManager[None]:
        """Around the building of a step: its rows are single tokens at `positions` int32 [rows], unless those are
        something else."""
        del positions
        return nullcontext()

    def product_threads(self, rows: int, *, largest_matrix: int, experts: bool) -> int:
        """Threads of the host for the products of a step of `rows` rows; ALL_THREADS if they are not bounded.

        `largest_matrix` counts the entries of a layer's largest matrix, `experts` tells whether some layers have many
        of which each row takes a few.
        """
        del rows, largest_matrix, experts
        return ALL_THREADS

    def take_threads(self, count: int) -> None:
        """Have further products take so many threads of the host."""

    def early_layers(self, layers: int) -> int:
        """Layers of a step, of a model with `layers`, that may begin while the step before it is computed.

        For pools that are not ordered; in others whole steps begin at once.
        """
        del layers
        return 0

    def memory_bytes(self) -> int:
        """Bytes this process may use: what the system recommends for the GPU, else what is available."""
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
        """A pool of `pages` pages for layers of these shapes, evaluated: of kernels where they take these sizes.

        `progress` hears of what takes long.
        """
        launcher = self.launcher(progress)
        if launcher is not None and kernels_carry(launcher, shapes, page_size):
            return KernelPool(shapes, pages=pages, page_size=page_size, dtype=dtype, launcher=launcher)
        return self.operations_pool(shapes, pages=pages, page_size=page_size, dtype=dtype)

    def launcher(self, progress: Progress | None) -> KernelLauncher | None:
        """What launches the kernels that work here; None where there are none."""
        del progress
        return None

    def operations_pool(self, shapes: Sequence[LayerShape], *, pages: int, page_size: int, dtype: mx.Dtype) -> KvPool:
        """`allocate`, of MLX operations."""
        return KvPool(shapes, pages=pages, page_size=page_size, dtype=dtype)

    def forbid(self, logits: mx.array, masks: npt.NDArray[np.uint32]) -> mx.array:
        """`logits` [rows, vocabulary] with -inf where the bit of a token in `masks` [rows, words] is 0."""
        bits = (mx.array(masks)[..., None] >> mx.arange(32, dtype=mx.uint32)) & 1
        allowed = bits.flatten(-2)[:, : logits.shape[-1]].astype(mx.bool_)
        return mx.where(allowed, logits, -mx.inf)

    def likelihoods(self, logits: mx.array, temperature: mx.array) -> mx.array:
        """In proportion to the probabilities of each row of `logits` [rows, vocabulary] at `temperature` [rows, 1]."""
        return mx.softmax(logits / temperature, axis=-1, precise=True)
