"""What the layers of a model store in the pages, and the bytes that this takes."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import mlx.core as mx
import numpy as np

from pie_mlx.errors import OutOfPagesError
from pie_mlx.metal.quantisation import Quantisation

HOST_DTYPES = {mx.float32: np.float32, mx.float16: np.float16, mx.bfloat16: np.uint16, mx.uint32: np.uint32}
"""The numpy type of an array of the pool on the host."""


@dataclass(frozen=True, slots=True)
class LayerShape:
    """What one layer stores per slot: `kv_heads` keys of `key_dim` elements and as many values of `value_dim`.

    A `latent` layer attends to both as one key, and to what is stored as key also as value. With a `quantisation` its
    pages hold words of codes, otherwise elements of the pool's type.
    """

    kv_heads: int
    key_dim: int
    value_dim: int
    latent: bool = False
    quantisation: Quantisation | None = None

    @property
    def elements(self) -> int:
        return self.kv_heads * (self.key_dim + self.value_dim)

    @property
    def output_dim(self) -> int:
        """Elements of the attention of one query head."""
        return self.key_dim if self.latent else self.value_dim

    @property
    def widths(self) -> tuple[int, int]:
        """What one head of K and of V takes in the pages: elements, or words."""
        kind = self.quantisation
        if kind is None:
            return self.key_dim, self.value_dim
        return kind.words(self.key_dim), kind.words(self.value_dim)

    def stored(self, dtype: mx.Dtype) -> mx.Dtype:
        """The type of the layer's arrays in a pool of `dtype`."""
        return dtype if self.quantisation is None else mx.uint32

    def slot_bytes(self, dtype: mx.Dtype) -> int:
        """Bytes of a slot in a pool of `dtype`."""
        return self.kv_heads * sum(self.widths) * self.stored(dtype).size

    def copy_bytes(self, dtype: mx.Dtype) -> int:
        """Bytes that MLX operations take to read a slot for attention: its copy, and while words are decoded these and
        float32."""
        decoding = 0 if self.quantisation is None else self.slot_bytes(dtype) + self.elements * mx.float32.size
        return self.elements * dtype.size + decoding

    @property
    def unquantised(self) -> "LayerShape":
        """The shape of copies that attention in MLX operations reads."""
        return replace(self, quantisation=None)


def page_bytes(shapes: Sequence[LayerShape], page_size: int, dtype: mx.Dtype) -> int:
    """Bytes of one page over all layers."""
    return sum(shape.slot_bytes(dtype) for shape in shapes) * page_size


def pages_for_budget(shapes: Sequence[LayerShape], page_size: int, dtype: mx.Dtype, budget_bytes: int) -> int:
    """How many pages fit. Raises OutOfPagesError, with the numbers, if none does."""
    each = page_bytes(shapes, page_size, dtype)
    pages = budget_bytes // each if each else 0
    if pages < 1:
        raise OutOfPagesError(
            f"page pool: one page takes {each:,} bytes, {max(0, budget_bytes):,} are left for the pool",
            hint="free memory, lower the headroom, or choose a smaller model",
            needed=1,
            capacity=0,
        )
    return pages
