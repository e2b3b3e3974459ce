"""An encoder with its weights: batches of token ids to a vector or a score of each."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import mlx.core as mx
import numpy as np
import numpy.typing as npt

from pie_mlx.engine.model.encoders.layers import Network
from pie_mlx.metal.arrays import evaluate, from_host, to_host

Reading = Literal["cls", "mean", "last", "max", "score"]
"""Which vector of a text: of its first token, of all, of its last one; or the scores of the head."""

Rows = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class EncoderInput:
    """Token ids of one text with its special tokens; of two where the second begins at `second`."""

    tokens: Sequence[int]
    second: int | None = None

    def __len__(self) -> int:
        return len(self.tokens)


@dataclass(frozen=True, slots=True)
class Encoder:
    """A network and how its head is given a text. It belongs to the MLX thread.

    `longest` counts tokens, special ones included; `labels` are 0 without a head.
    """

    network: Network
    width: int
    longest: int
    labels: int
    head_pooling: str

    def compute(self, batch: Sequence[EncoderInput], reading: Reading) -> Rows:
        """The vectors [B, width], or scores [B, labels], of a batch; float32. Not empty, no text without tokens."""
        tokens, lengths, types = _padded(batch)
        attended = mx.arange(tokens.shape[1])[None] < lengths[:, None]
        states = self.network(tokens, attended[:, None, None], types)
        pooling = self.head_pooling if reading == "score" else reading
        found = _pooled(states, lengths, attended, pooling)
        if reading == "score":
            found = self.network.head(found.astype(states.dtype)).astype(mx.float32)
        evaluate(found)
        return to_host(found)


def _padded(batch: Sequence[EncoderInput]) -> tuple[mx.array, mx.array, mx.array]:
    """Tokens and types [B, L], lengths [B]. Padding is token 0: nothing attends to it."""
    lengths = np.array([len(one) for one in batch], np.int32)
    tokens, types = np.zeros((2, len(batch), int(lengths.max())), np.int32)
    for row, one in enumerate(batch):
        tokens[row, : len(one)] = one.tokens
        if one.second is not None:
            types[row, one.second : len(one)] = 1
    arrays: list[Any] = [tokens, lengths, types]
    tokens_, lengths_, types_ = (from_host(each) for each in arrays)
    return tokens_, lengths_, types_


def _pooled(states: mx.array, lengths: mx.array, attended: mx.array, pooling: str) -> mx.array:
    """[B, width] float32 of states [B, L, width]."""
    if pooling == "cls":
        return states[:, 0].astype(mx.float32)
    if pooling == "last":
        places = mx.broadcast_to((lengths - 1)[:, None, None], (len(states), 1, states.shape[2]))
        return mx.take_along_axis(states, places, axis=1)[:, 0].astype(mx.float32)
    present, wide = attended[..., None], states.astype(mx.float32)
    if pooling == "max":
        return mx.where(present, wide, -mx.inf).max(axis=1)
    return mx.where(present, wide, 0).sum(axis=1) / lengths[:, None]
