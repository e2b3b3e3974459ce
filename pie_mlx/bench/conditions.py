"""The conditions of both sides. Comparisons under different conditions are refused."""

from dataclasses import dataclass

import mlx.core as mx
import numpy as np
import numpy.typing as npt

from pie_mlx.bench.prompts import prompt
from pie_mlx.errors import InvalidArgumentError

PROBE = tuple(prompt(24, 5))
"""Tokens after which both sides must give equal logits."""

_TOLERANCES = {"float32": 1e-3, "float16": 2e-2, "bfloat16": 1e-1}
"""Tolerance relative to the largest logit, because the sides add in different orders."""


@dataclass(frozen=True, slots=True)
class Conditions:
    """One side: the number format of its weights, what multiplies its matrices, and its logits after `PROBE`."""

    side: str
    dtype: str
    blas: str
    logits: npt.NDArray[np.float32]


def require_alike(ours: Conditions, peer: Conditions) -> None:
    """Raises InvalidArgumentError when the two sides would not do the same work."""
    if ours.dtype != peer.dtype:
        raise InvalidArgumentError(
            f"bench: {ours.side} computes in {ours.dtype}, {peer.side} in {peer.dtype}: that is not the same work",
            hint=f"compare both in one format: pie bench --dtype {ours.dtype}",
        )
    if ours.blas != peer.blas:
        raise InvalidArgumentError(
            f"bench: {ours.side} multiplies with {ours.blas}, {peer.side} with {peer.blas}",
            hint="run both with one BLAS: PIE_FAST_BLAS=0 turns the faster one off for both",
        )
    error = _distance(ours.logits, peer.logits)
    if error > _TOLERANCES[ours.dtype]:
        raise InvalidArgumentError(
            f"bench: after one prompt the logits of {ours.side} and {peer.side} differ by {error:.1e} of the largest: "
            "that is not the same model",
            hint="name a model that both load: 'pie model list' shows those on this machine",
        )


def dtype_name(dtype: mx.Dtype) -> str:
    """`float32` for mlx.core.float32."""
    return str(dtype).rpartition(".")[2]


def _distance(ours: npt.NDArray[np.float32], peer: npt.NDArray[np.float32]) -> float:
    if ours.shape != peer.shape or not np.isfinite(ours).all():
        return np.inf
    return float(np.max(np.abs(ours - peer)) / max(float(np.max(np.abs(peer))), 1e-9))
