"""How fast prompts are computed here."""

from collections.abc import Sequence
from dataclasses import dataclass

PREFILL_TOKENS = 16
"""Fewer tokens of a context in a batch are a decode step, which does not measure prefill."""
OLDER_WEIGHT = 0.9
"""The weight of older batches, relative to the newest one."""


@dataclass(slots=True)
class PrefillRate:
    """Measured over the latest batches that hold pieces of prompts, the longer ones counting for more."""

    tokens_per_second: float | None = None
    """None until a piece was measured."""
    _tokens: float = 0.0
    _seconds: float = 0.0

    def observe(self, counts: Sequence[int], seconds: float, decode_seconds: float = 0.0) -> None:
        """A batch with `counts` tokens of its contexts took `seconds` on the device.

        Its decode steps alone would have taken `decode_seconds`: what its prompts took is what is left.
        """
        tokens = sum(count for count in counts if count >= PREFILL_TOKENS)
        if tokens:
            self._tokens = OLDER_WEIGHT * self._tokens + tokens
            self._seconds = OLDER_WEIGHT * self._seconds + max(seconds - decode_seconds, 0.0)
            self.tokens_per_second = self._tokens / self._seconds if self._seconds > 0.0 else None
