"""Draws one token per row of logits, each row with its own sampler, without sorting the vocabulary."""

# MLX's stubs leave variable arguments untyped.
# pyright: reportUnknownMemberType=false

from dataclasses import dataclass

import mlx.core as mx

from pie_mlx.metal.kernels.requirements import SMALLEST_BUFFER, placeholder, require
from pie_mlx.metal.launcher import KernelLauncher

SIMDS = 8


@dataclass(frozen=True, slots=True)
class SamplerRows:
    """Samplers of `rows` rows: temperature (<= 1e-5: argmax), top_k (0: all), top_p, min_p and a random number in
    [0, 1 - 2**-23], each [rows] (top_k int32, the others float32); masks as words uint32 [masks, words] with row_mask
    int32 [rows] (-1: none), or None."""

    temperature: mx.array
    top_k: mx.array
    top_p: mx.array
    min_p: mx.array
    uniform: mx.array
    mask_bits: mx.array | None = None
    row_mask: mx.array | None = None


def sample_rows(launcher: KernelLauncher, logits: mx.array, rows: SamplerRows) -> tuple[mx.array, mx.array]:
    """Draws tokens uint32 [rows] from logits float32 [rows, vocabulary]. Also returns their log-probabilities float32
    [rows] in the plain logits.

    Filters follow rules L1 and L2: mask, temperature, softmax, top-k and top-p on one order, min-p. The draw takes the
    first kept id whose running probability exceeds uniform x kept. A row without an allowed token gets 0xFFFFFFFF.
    Raises InvalidArgumentError for shapes that do not match.
    """
    count = logits.shape[0]
    columns = (rows.temperature, rows.top_k, rows.top_p, rows.min_p, rows.uniform)
    require(all(column.shape == (count,) for column in columns), "sample_rows", f"{count} rows, other parameter shapes")
    masked = rows.mask_bits is not None and rows.row_mask is not None
    words = placeholder(mx.uint32).reshape(1, -1)
    if masked and rows.mask_bits is not None:
        words = rows.mask_bits
        enough = words.shape[1] * 32 >= logits.shape[1]
        require(enough, "sample_rows", f"masks of {words.shape[1]} words for {logits.shape[1]} tokens")
        if words.size < SMALLEST_BUFFER:
            words = mx.pad(words, [(0, 0), (0, SMALLEST_BUFFER - words.shape[1])])
    token, logprob = launcher.launch(
        "sample_rows",
        inputs={
            "logits": logits,
            "temperature": rows.temperature,
            "top_k": rows.top_k,
            "top_p": rows.top_p,
            "min_p": rows.min_p,
            "random_numbers": rows.uniform,
            "mask_bits": words,
            "row_mask": rows.row_mask if masked and rows.row_mask is not None else placeholder(mx.int32),
        },
        template={"SIMDS": SIMDS, "MASKED": masked},
        grid=(count * SIMDS * 32, 1, 1),
        threadgroup=(SIMDS * 32, 1, 1),
        outputs={"token": ((count,), mx.uint32), "logprob": ((count,), mx.float32)},
    )
    return token, logprob
