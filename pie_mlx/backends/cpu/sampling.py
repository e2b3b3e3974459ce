"""Parts of sampling for which MLX's CPU backend has faster operations than those of a GPU."""

import mlx.core as mx
import numpy as np
import numpy.typing as npt

from pie_mlx.metal.attention import LOG2_E

_BITS = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little")
_LIMITS = np.where(_BITS, np.float32(np.inf), np.float32(-np.inf))
"""[256, 8] the upper limits of eight logits, by the byte of their mask."""


def forbid(logits: mx.array, masks: npt.NDArray[np.uint32]) -> mx.array:
    """`Backend.forbid`: a table and one vectorised minimum take a fifth of the time of `where` on bits."""
    limits, vocabulary = _LIMITS.take(masks.view(np.uint8), axis=0).reshape(len(masks), -1), logits.shape[-1]
    return mx.minimum(logits, mx.array(limits if limits.shape[-1] == vocabulary else limits[:, :vocabulary]))


def likelihoods(logits: mx.array, temperature: mx.array) -> mx.array:
    """`Backend.likelihoods` by powers of two: MLX's exp is more than twice as slow, more than all of the rest."""
    return mx.power(2.0, (logits - mx.max(logits, axis=-1, keepdims=True)) * (LOG2_E / temperature))
