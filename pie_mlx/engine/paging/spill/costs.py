"""Whether a lost page is better written to disk or computed again (R3)."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from pie_mlx.engine.paging.prefill_rate import PrefillRate
from pie_mlx.engine.paging.spill.disk import Disk

SAMPLE_BYTES = 4 << 20
BLOCK_BYTES = 1 << 20


@dataclass(slots=True)
class SpillCosts:
    """Measured rates. Until a prefill was seen spilling counts as cheaper."""

    write_bytes_per_second: float
    read_bytes_per_second: float
    prefill: PrefillRate = field(default_factory=PrefillRate)

    def spill_seconds(self, content_bytes: int) -> float:
        """t_spill: write it once and read it once."""
        return content_bytes / self.write_bytes_per_second + content_bytes / self.read_bytes_per_second

    def is_cheaper(self, content_bytes: int, tokens: int) -> bool:
        """Whether t_spill < t_recompute for a page of `content_bytes` that holds `tokens` tokens."""
        rate = self.prefill.tokens_per_second
        return rate is None or self.spill_seconds(content_bytes) < tokens / rate


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
