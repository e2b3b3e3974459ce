"""Keys and values in 8 or 4 bits: how the elements of a head become words of codes, and words elements again.

A head of `size` elements is `size * bits / 32` words of codes, lowest bits first, and one word per group with its scale
(low half) and bias (high half) in float16. An element is `code * scale + bias`. The Metal kernels read the same words.
"""

from dataclasses import dataclass
from typing import Any

import mlx.core as mx
import numpy as np
import numpy.typing as npt

from pie_mlx.errors import InvalidArgumentError
from pie_mlx.metal.arrays import from_host, host_view

LARGEST_HALF = 65504.0
Words = npt.NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class Quantisation:
    """Bits per element, and how many neighbours along the head share a scale and a bias."""

    bits: int
    group_size: int

    def check(self, what: str, head_size: int) -> None:
        """Raises InvalidArgumentError for a layout that nothing here can read."""
        if self.bits not in (8, 4):
            raise InvalidArgumentError(f"{what}: {self.bits}-bit pages", hint="use 8 or 4 bits")
        if self.group_size not in (64, 32):
            raise InvalidArgumentError(f"{what}: groups of {self.group_size}", hint="use 64 or 32")
        if head_size % self.group_size:
            raise InvalidArgumentError(
                f"{what}: groups of {self.group_size} do not divide the head size {head_size}",
                hint="use groups of 32" if head_size % 32 == 0 else "keep the pages in full precision",
            )

    def words(self, head_size: int) -> int:
        """Words of a head."""
        return head_size * self.bits // 32 + head_size // self.group_size

    def head_size(self, words: int) -> int:
        """Elements of a head of `words` words."""
        return words * 32 * self.group_size // (self.group_size * self.bits + 32)

    @property
    def element_bytes(self) -> float:
        """Bytes of an element, with its share of scale and bias."""
        return self.bits / 8 + 4 / self.group_size

    def encode(self, rows: mx.array) -> mx.array:
        """Words uint32 [..., words] of `rows` [..., head size]. A head's words depend on its own elements only."""
        groups = mx.unflatten(rows.astype(mx.float32), -1, (-1, self.group_size))
        top = float(2**self.bits - 1)
        low, high = mx.min(groups, axis=-1, keepdims=True), mx.max(groups, axis=-1, keepdims=True)
        bias = mx.clip(low, -LARGEST_HALF, LARGEST_HALF).astype(mx.float16)
        step = mx.minimum((high - low) / top, LARGEST_HALF).astype(mx.float16)
        scale = mx.where(step == 0, mx.ones_like(step), step)
        codes = mx.clip(mx.round((groups - bias.astype(mx.float32)) / scale.astype(mx.float32)), 0, top)
        whole = codes.astype(mx.uint8).flatten(-2)
        packed = whole if self.bits == 8 else whole[..., ::2] | (whole[..., 1::2] << 4)
        pairs = mx.concatenate([scale, bias], axis=-1)
        return mx.concatenate([packed.view(mx.uint32), pairs.view(mx.uint32).flatten(-2)], axis=-1)

    def decode(self, words: mx.array, dtype: mx.Dtype) -> mx.array:
        """Elements [..., head size] of `words` [..., words]. Two operations, so that no device fuses what the host
        computes in two."""
        code_words = self._code_words(words.shape[-1])
        held = mx.contiguous(words[..., :code_words]).view(mx.uint8)
        codes = held if self.bits == 8 else mx.stack([held & 15, held >> 4], axis=-1).flatten(-2)
        pairs = mx.unflatten(mx.contiguous(words[..., code_words:]).view(mx.float16).astype(mx.float32), -1, (-1, 2))
        groups = mx.unflatten(codes.astype(mx.float32), -1, (-1, self.group_size))
        return (groups * pairs[..., :1] + pairs[..., 1:]).flatten(-2).astype(dtype)

    def decode_on_host(self, words: Words, dtype: mx.Dtype) -> npt.NDArray[Any]:
        """`decode` in numpy, bit for bit; bfloat16 as its uint16 bits."""
        code_words = self._code_words(words.shape[-1])
        held = np.ascontiguousarray(words[..., :code_words]).view(np.uint8)
        codes = held if self.bits == 8 else np.stack([held & 15, held >> 4], axis=-1).reshape(*held.shape[:-1], -1)
        pairs = np.ascontiguousarray(words[..., code_words:]).view(np.float16).astype(np.float32)
        pairs = pairs.reshape(*words.shape[:-1], -1, 2)
        groups = codes.reshape(*pairs.shape[:-1], self.group_size).astype(np.float32)
        groups *= pairs[..., :1]
        groups += pairs[..., 1:]
        found = groups.reshape(*words.shape[:-1], -1)
        return found if dtype == mx.float32 else host_view(from_host(found).astype(dtype))

    def _code_words(self, words: int) -> int:
        return self.head_size(words) * self.bits // 32
