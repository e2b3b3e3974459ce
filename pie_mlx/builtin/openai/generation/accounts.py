"""What a request cost: tokens and time."""

import time


class Account:
    """Counted from now on. `cached_tokens` are of what several choices share; each counts its own."""

    def __init__(self, prompt_tokens):
        self._prompt_tokens = prompt_tokens
        self._begun = time.perf_counter()
        self.choices = []
        self.cached_tokens = 0

    def costs(self):
        """What answers tell."""
        return {"usage": self.usage(), "timings": self.timings()}

    def usage(self):
        completion = sum(choice.counts.tokens for choice in self.choices)
        reasoning = sum(choice.counts.reasoning_tokens for choice in self.choices)
        cached = self.cached_tokens + sum(choice.counts.cached for choice in self.choices)
        return {
            "prompt_tokens": self._prompt_tokens,
            "completion_tokens": completion,
            "total_tokens": self._prompt_tokens + completion,
            "prompt_tokens_details": {"cached_tokens": cached},
            "completion_tokens_details": {"reasoning_tokens": reasoning},
        }

    def timings(self):
        """Under the names that other local servers use. The first token belongs to the prompt."""
        now = time.perf_counter()
        first = min(choice.counts.first_seconds or now for choice in self.choices)
        completion = sum(choice.counts.tokens for choice in self.choices)
        prompt_ms, predicted_ms = (first - self._begun) * 1000, (now - first) * 1000
        return {
            "prompt_n": self._prompt_tokens,
            "prompt_ms": round(prompt_ms, 3),
            "prompt_per_second": _rate(self._prompt_tokens, prompt_ms),
            "predicted_n": completion,
            "predicted_ms": round(predicted_ms, 3),
            "predicted_per_second": _rate(completion - len(self.choices), predicted_ms),
        }


def _rate(count, milliseconds):
    return round(max(count, 0) * 1000 / milliseconds, 3) if milliseconds > 0 else 0.0
