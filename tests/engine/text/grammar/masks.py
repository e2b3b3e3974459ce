"""What a matcher allows, as tokens."""

import numpy as np

from pie_mlx.engine.text.grammar import Matcher


def allowed_tokens(matcher: Matcher, size: int) -> list[int]:
    """The tokens that may come next, of a vocabulary of `size`, in order."""
    mask = matcher.packed_mask()
    if mask is None:
        return list(range(size))
    bits = np.unpackbits(np.ascontiguousarray(mask, np.uint32).view(np.uint8), count=size, bitorder="little")
    return np.flatnonzero(bits).tolist()
