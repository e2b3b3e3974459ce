"""Back-pressure: the parts of a step that are computed while the rest of it is built."""

from collections import deque

import mlx.core as mx

from pie_mlx.metal.arrays import begin_evaluation, evaluate

SEGMENT_BYTES = 128 << 20
"""What the layers of a segment answer, about. One of a large model takes tens of milliseconds: far more than handing it
out, far less than the seconds after which macOS ends a command buffer."""

MOST = 2
"""Segments that are begun and not known to have ended: one that is computed, one behind it."""


class Segments:
    """Hands the device a step segment by segment, and waits for the oldest before it begins one more than MOST.

    MLX allocates what operations answer when they are begun, all layers at once if they are begun at once. Its own
    limits count command buffers, which are few here (`mlx_env.py`).

    Belongs to the MLX thread. `start` comes before a forward pass, then each layer says what it has `stored`. Any of
    these may raise what the device raises for a segment before; `forget` those of a step that failed.
    """

    def __init__(self) -> None:
        self._begun: deque[mx.array] = deque()
        self._layer_bytes = self._pending_bytes = 0

    def start(self, layer_bytes: int) -> None:
        """A pass begins whose layers answer `layer_bytes` each; 0 where nothing of it may begin before all is built."""
        self._layer_bytes, self._pending_bytes = layer_bytes, 0

    def stored(self, array: mx.array) -> None:
        """A layer stores `array`, which is computed from all layers before it."""
        self._pending_bytes += self._layer_bytes
        if self._pending_bytes < SEGMENT_BYTES:
            return
        self._pending_bytes = 0
        while len(self._begun) >= MOST:
            evaluate(self._begun.popleft())
        begin_evaluation(array)
        self._begun.append(array)

    def forget(self) -> None:
        """What has begun has failed, or is waited for."""
        self._begun.clear()
