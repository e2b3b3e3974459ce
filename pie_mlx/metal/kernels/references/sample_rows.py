"""`sample_rows` in numpy, float64, with a sort."""

import mlx.core as mx
import numpy as np
import numpy.typing as npt

from pie_mlx.metal.arrays import DoubleArray, doubles, host_view
from pie_mlx.metal.kernels.sample_rows import SamplerRows
from pie_mlx.metal.runs import BoolArray

GREEDY_TEMPERATURE = 1e-5
NUDGE = 1e-6
"""Tolerance for a random number or a share: errors of float32 energies and masses in units of 2^-31 add up to this."""

Tokens = npt.NDArray[np.int64]


def sample_rows(logits: mx.array, rows: SamplerRows, *, nudge: float = 0.0, share_nudge: float = 0.0) -> Tokens:
    """Tokens [rows]. Arguments as the kernel's, with the random numbers moved by `nudge`, top_p and min_p by
    `share_nudge`."""
    masked = np.where(_allowed(logits, rows), doubles(logits), -np.inf)
    temperature = doubles(rows.temperature)[:, None]
    greedy = temperature <= GREEDY_TEMPERATURE
    heated = masked / np.where(greedy, 1, temperature)
    mass = np.exp(heated - heated.max(-1, keepdims=True))
    probabilities = mass / mass.sum(-1, keepdims=True)
    running = np.cumsum(np.where(_kept(probabilities, rows, share_nudge), probabilities, 0), axis=-1)
    uniform = np.clip(doubles(rows.uniform)[:, None] + nudge, 0, 1 - NUDGE)
    drawn: Tokens = np.sum(running <= uniform * running[:, -1:], axis=-1)
    return np.where(greedy[:, 0], masked.argmax(-1), drawn)


def possible_tokens(logits: mx.array, rows: SamplerRows) -> Tokens:
    """Every token that a correct kernel may draw, [variants, rows]: also the neighbours of a boundary within
    rounding."""
    steps = (-NUDGE, 0.0, NUDGE)
    return np.stack([sample_rows(logits, rows, nudge=nudge, share_nudge=share) for nudge in steps for share in steps])


def log_probabilities(logits: mx.array, tokens: Tokens) -> DoubleArray:
    """Natural log-probabilities of `tokens` [rows] in the plain logits."""
    wide = doubles(logits)
    top = wide.max(-1, keepdims=True)
    normaliser = top + np.log(np.exp(wide - top).sum(-1, keepdims=True))
    return np.take_along_axis(wide - normaliser, tokens[:, None], axis=-1)[:, 0]


def _allowed(logits: mx.array, rows: SamplerRows) -> BoolArray:
    if rows.mask_bits is None or rows.row_mask is None:
        return np.ones(logits.shape, np.bool_)
    bits = np.unpackbits(host_view(rows.mask_bits).view(np.uint8), axis=1, bitorder="little")
    lines = host_view(rows.row_mask)
    dense = bits[:, : logits.shape[1]].astype(np.bool_)
    return dense[np.maximum(lines, 0)] | (lines < 0)[:, None]


def _kept(probabilities: DoubleArray, rows: SamplerRows, nudge: float) -> BoolArray:
    """The tokens that all filters keep, [rows, vocabulary]; always the likeliest."""
    order = np.argsort(-probabilities, axis=-1, kind="stable")
    falling = np.take_along_axis(probabilities, order, axis=-1)
    rank = np.arange(probabilities.shape[1], dtype=np.int64)[None]
    k = host_view(rows.top_k)[:, None]
    before = np.cumsum(falling, axis=-1) - falling
    top_p = doubles(rows.top_p)[:, None]
    enough = (before < top_p + nudge) | (top_p >= 1)
    likely = falling >= (doubles(rows.min_p)[:, None] + nudge) * falling[:, :1]
    keep = (((k <= 0) | (rank < k)) & enough & likely) | (rank == 0)
    kept = np.zeros_like(keep)
    np.put_along_axis(kept, order, keep, axis=-1)
    return kept
