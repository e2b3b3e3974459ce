"""How much memory this process takes as time goes by."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from statistics import median

import psutil

SAMPLE_SECONDS = 0.5
WINDOW = 9
"""Samples whose median counts: one of them may fall into a burst of work."""
TOLERANCE_MIB = 64.0


@dataclass
class Resident:
    """Seconds since the start, and MiB then."""

    samples: list[tuple[float, float]] = field(default_factory=list[tuple[float, float]])

    def at(self, seconds: float) -> float:
        """MiB around that time."""
        near = sorted(self.samples, key=lambda sample: abs(sample[0] - seconds))[:WINDOW]
        return median(mib for _, mib in near)

    @property
    def end_mib(self) -> float:
        return self.at(self.samples[-1][0])

    def slope(self, after_seconds: float) -> float:
        """MiB per minute since then, by least squares."""
        later = [(seconds / 60, mib) for seconds, mib in self.samples if seconds >= after_seconds]
        middle, level = (sum(column) / len(later) for column in zip(*later, strict=True))
        spread = sum((minute - middle) ** 2 for minute, _ in later)
        return sum((minute - middle) * (mib - level) for minute, mib in later) / spread if spread else 0.0

    @contextlib.asynccontextmanager
    async def sampled(self) -> AsyncIterator[None]:
        """Sampled while the block runs."""
        task = asyncio.create_task(self._sample())
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _sample(self) -> None:
        started, process = time.monotonic(), psutil.Process()
        while True:
            self.samples.append((time.monotonic() - started, process.memory_info().rss / (1 << 20)))
            await asyncio.sleep(SAMPLE_SECONDS)
