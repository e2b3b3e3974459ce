"""Whether a lost page is better written to disk or computed again (R3)."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from pie_mlx.engine.spill.disk import Disk

SAMPLE_BYTES = 4 << 20
BLOCK_BYTES = 1 << 20
PREFILL_SAMPLE_TOKENS = 16
"""Batches of fewer tokens per context are decode steps and say nothing about the speed of prefill."""
PREFILL_WEIGHT = 0.1
"""Weight of the newest sample in the smoothed prefill rate."""


@dataclass(slots=True)
class SpillCosts:
    """Measured rates. Until a prefill was seen (`prefill_tokens_per_second` None) spilling counts as cheaper."""

    write_bytes_per_second: float
    read_bytes_per_second: float
    prefill_tokens_per_second: float | None = None

    def observe(self, tokens: int, contexts: int, seconds: float) -> None:
        """A batch of `tokens` tokens of `contexts` contexts took `seconds` on the device."""
        if tokens < PREFILL_SAMPLE_TOKENS * contexts or seconds <= 0.0:
            return
        sample, rate = tokens / seconds, self.prefill_tokens_per_second
        self.prefill_tokens_per_second = (
            sample if rate is None else PREFILL_WEIGHT * sample + (1 - PREFILL_WEIGHT) * rate
        )

    def spill_seconds(self, content_bytes: int) -> float:
        """t_spill: write it once and read it once."""
        return content_bytes / self.write_bytes_per_second + content_bytes / self.read_bytes_per_second

    def is_cheaper(self, content_bytes: int, tokens: int) -> bool:
        """Whether t_spill < t_recompute for a page of `content_bytes` that holds `tokens` tokens."""
        if self.prefill_tokens_per_second is None:
            return True
        return self.spill_seconds(content_bytes) < tokens / self.prefill_tokens_per_second


def measure_costs(disk: Disk, clock: Callable[[], float] = time.perf_counter) -> SpillCosts:
    """The bandwidth of `disk`, by writing and reading a few MiB at its beginning. Blocks; raises OSError."""
    block = bytes(range(256)) * (BLOCK_BYTES // 256)
    offsets = range(0, SAMPLE_BYTES, BLOCK_BYTES)
    started = clock()
    for offset in offsets:
        disk.write_at(block, offset)
    disk.flush()
    written = clock()
    if any(disk.read_at(BLOCK_BYTES, offset) != block for offset in offsets):
        raise OSError("what was written does not read back the same")
    done = clock()
    least = 1e-9  # a clock too coarse to see the difference
    return SpillCosts(SAMPLE_BYTES / max(written - started, least), SAMPLE_BYTES / max(done - written, least))
