"""The tokens and the time of a request."""

import time


class Costs:
    """Counts from now on. `cached_tokens` are those of the prompt that choices share; each choice counts its own."""

    def __init__(self, prompt_tokens):
        self._prompt_tokens = prompt_tokens
        self._begun = time.perf_counter()
        self.choices = []
        self.cached_tokens = 0

    def figures(self):
        """The figures in an answer."""
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
        """Timings under the names of other local servers. The time to the first token belongs to the prompt."""
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
