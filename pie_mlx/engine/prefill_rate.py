"""How fast prompts are computed here."""

from dataclasses import dataclass

PREFILL_TOKENS = 16
"""Batches of fewer tokens per context are decode steps and say nothing about the speed of prefill."""
NEWEST_WEIGHT = 0.1
"""Weight of the newest sample in the smoothed rate."""


@dataclass(slots=True)
class PrefillRate:
    """Measured over batches that hold pieces of prompts; None until there was one."""

    tokens_per_second: float | None = None

    def observe(self, tokens: int, contexts: int, seconds: float) -> None:
        """A batch of `tokens` tokens of `contexts` contexts took `seconds` on the device."""
        if tokens < PREFILL_TOKENS * contexts or seconds <= 0.0:
            return
        newest, before = tokens / seconds, self.tokens_per_second
        self.tokens_per_second = newest if before is None else before + NEWEST_WEIGHT * (newest - before)
