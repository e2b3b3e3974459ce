"""Masks as packed words and as run lengths.

A packed mask has one bit per token, little-endian in words of 32; a set bit allows. Its width is that of the model's
logits, padding included, and padding is never allowed.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pie_mlx.calls import Brle

PackedMask = NDArray[np.uint32]
"""[words] uint32."""


def words_for(vocabulary_size: int) -> int:
    """The number of words of a mask."""
    return -(-vocabulary_size // 32)


def pack_tokens(tokens: "list[int] | tuple[int, ...]", vocabulary_size: int) -> PackedMask:
    """The mask that allows these tokens only."""
    ids = np.asarray(tokens, np.uint32)
    row = np.zeros(words_for(vocabulary_size), np.uint32)
    np.bitwise_or.at(row, ids >> 5, np.uint32(1) << (ids & np.uint32(31)))
    return row


def mask_to_brle(words: NDArray[Any], vocabulary_size: int) -> Brle:
    """Run lengths of a packed mask, the first run False (F13). All False is [V], all True is [0, V]."""
    bits = np.unpackbits(words.view(np.uint8), bitorder="little", count=vocabulary_size)
    edges = np.flatnonzero(np.diff(bits, prepend=np.uint8(0)))
    return np.diff(edges, prepend=0, append=vocabulary_size).tolist()
