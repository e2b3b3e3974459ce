"""Segments of a step that are computed while the rest of it is built, with back-pressure."""

from collections import deque

import mlx.core as mx

from pie_mlx.metal.arrays import begin_evaluation, evaluate

SEGMENT_BYTES = 128 << 20
"""Approximate output bytes of a segment's layers. A segment of a large model takes tens of milliseconds: far more than
its launch, far less than the seconds after which macOS ends a command buffer."""

MOST = 2
"""Most segments in flight: one being computed and one waiting."""


class Segments:
    """Begins a step segment by segment, and waits for the oldest segment before it begins more than MOST.

    MLX allocates the outputs of operations when they begin: those of all layers at once if all begin at once. Its own
    limits count command buffers, of which there are few here (`mlx_env.py`).

    Belongs to the MLX thread. Call `start` before a forward pass, then `stored` for each layer. Each call may raise the
    device's error for an earlier segment. Call `forget` for a step that failed.
    """

    def __init__(self) -> None:
        self._begun: deque[mx.array] = deque()
        self._layer_bytes = self._pending_bytes = 0

    def start(self, layer_bytes: int) -> None:
        """Starts a pass whose layers output `layer_bytes` each; 0 if nothing may begin before all of it is built."""
        self._layer_bytes, self._pending_bytes = layer_bytes, 0

    def stored(self, array: mx.array) -> None:
        """Records that a layer stores `array`, which depends on all layers before it."""
        self._pending_bytes += self._layer_bytes
        if self._pending_bytes < SEGMENT_BYTES:
            return
        self._pending_bytes = 0
        while len(self._begun) >= MOST:
            evaluate(self._begun.popleft())
        begin_evaluation(array)
        self._begun.append(array)

    def forget(self) -> None:
        """Forgets the segments in flight: they failed, or the caller waits for them."""
        self._begun.clear()
