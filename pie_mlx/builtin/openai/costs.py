"""What the replies to a request cost, and how far its prompt is."""

import time
from dataclasses import dataclass
from functools import reduce
from operator import add

import msgspec


@dataclass(frozen=True)
class Progress:
    """How far the prompt is, under llama.cpp's names: of the `total` tokens so many are `processed`, the ones found in
    the `cache` among them, `time_ms` after the request was read."""

    total: int
    cache: int
    processed: int
    time_ms: int


class Costs:
    """Counts from now on. What choices share of the prompt is counted here, and how it was reused in `shared`; each
    choice counts its own."""

    def __init__(self, prompt_tokens, page_size=1):
        self._prompt_tokens, self._page_size = prompt_tokens, page_size
        self._begun = time.perf_counter()
        self._processed = self._cached = 0
        self.choices = []
        self.shared = []

    def count_processed(self, tokens, cached):
        """Count tokens of the prompt that are computed now, or were found in the cache."""
        self._processed += tokens
        self._cached += cached

    def progress(self, *, is_over=False):
        """How far the prompt is: all of it when the first token has been drawn."""
        processed = self._prompt_tokens if is_over else self._processed
        milliseconds = (time.perf_counter() - self._begun) * 1000
        return Progress(self._prompt_tokens, self._cached_tokens(), processed, round(milliseconds))

    def figures(self):
        """The figures in an answer."""
        return {"usage": self.usage(), "timings": self.timings()}

    def kept_tokens(self):
        """Tokens of the prompt whose full pages a later request finds again."""
        return self._prompt_tokens // self._page_size * self._page_size

    def usage(self):
        completion = sum(choice.counts.tokens for choice in self.choices)
        reasoning = sum(choice.counts.reasoning_tokens for choice in self.choices)
        return {
            "prompt_tokens": self._prompt_tokens,
            "completion_tokens": completion,
            "total_tokens": self._prompt_tokens + completion,
            "prompt_tokens_details": {"cached_tokens": self._cached_tokens()},
            "completion_tokens_details": {"reasoning_tokens": reasoning},
        }

    def result(self):
        """What the process returns: the server's metrics count it, and monitors show it."""
        usage = self.usage()
        return {
            "finish_reasons": [choice.counts.finish for choice in self.choices],
            "prompt_tokens": usage["prompt_tokens"],
            "cached_tokens": self._cached_tokens(),
            "completion_tokens": usage["completion_tokens"],
            "miss": (self.cache()["miss"] or {}).get("message", ""),
        }

    def cache(self):
        """What of the prompt was found again, and why the first page that was not had to be computed."""
        reuse = reduce(add, [*self.shared, *(choice.context.reuse for choice in self.choices)])
        found = {"from_memory": reuse.from_memory, "from_disk": reuse.from_disk, "replayed": reuse.replayed}
        computed = max(0, self._prompt_tokens - sum(found.values()))
        miss = reuse.miss and {**msgspec.to_builtins(reuse.miss), "message": str(reuse.miss)}
        kept_seconds = round(max(choice.counts.kept_seconds for choice in self.choices), 1)
        return {**found, "computed": computed, "miss": miss, "kept_seconds": kept_seconds}

    def _cached_tokens(self):
        return self._cached + sum(choice.counts.cached for choice in self.choices)

    def timings(self):
        """Timings under llama.cpp's names: `prompt_n` are the tokens of the prompt that were computed, `cache_n` those
        found again. The time to the first token belongs to the prompt."""
        now = time.perf_counter()
        first = min(choice.counts.first_seconds or now for choice in self.choices)
        cached = self._cached_tokens()
        computed, predicted = self._prompt_tokens - cached, sum(choice.counts.tokens for choice in self.choices)
        prompt_ms, predicted_ms = (first - self._begun) * 1000, (now - first) * 1000
        return {
            "cache_n": cached,
            "prompt_n": computed,
            "prompt_ms": round(prompt_ms, 3),
            "prompt_per_token_ms": _rate(prompt_ms, computed),
            "prompt_per_second": _rate(computed * 1000, prompt_ms),
            "predicted_n": predicted,
            "predicted_ms": round(predicted_ms, 3),
            "predicted_per_token_ms": _rate(predicted_ms, predicted - len(self.choices)),
            "predicted_per_second": _rate((predicted - len(self.choices)) * 1000, predicted_ms),
            "cache": self.cache(),
        }


def _rate(amount, per):
    return round(max(amount, 0) / per, 3) if per > 0 else 0.0
