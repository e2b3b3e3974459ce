"""How often the tokens of a text occur in it, as penalties count them: plain values, no tensors."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Counts = npt.NDArray[np.int32]

RECENT = 1024
"""The last tokens of a text in which repetitions are looked for."""

_FEW = 16
"""Up to so many new tokens are sorted in one by one; more of them all at once."""


@dataclass(frozen=True, slots=True, eq=False)
class TokenCounts:
    """The distinct tokens of a text, `ids` [n] rising, and how often each of them was `generated` [n]: 0 for those of
    the prompt alone; `recent` are its last tokens, at most RECENT. A value, which any thread may read."""

    ids: Counts
    generated: Counts
    recent: Counts

    def after(self, tokens: Sequence[int], prompt: int = 0) -> "TokenCounts":
        """The counts with `tokens` after the text, of which the first `prompt` were not generated."""
        recent = np.append(self.recent, np.asarray(tokens[-RECENT:], np.int32))[-RECENT:]
        if len(tokens) > _FEW:
            return self._merged(np.asarray(tokens, np.int32), prompt, recent)
        ids, generated = self.ids, self.generated.copy()
        for index, token in enumerate(tokens):
            place, more = int(np.searchsorted(ids, token)), int(index >= prompt)
            if place < len(ids) and ids[place] == token:
                generated[place] += more
            else:
                ids, generated = np.insert(ids, place, token), np.insert(generated, place, more)
        return TokenCounts(ids, generated, recent)

    def _merged(self, tokens: Counts, prompt: int, recent: Counts) -> "TokenCounts":
        weights = np.ones(len(tokens), np.int32)
        weights[:prompt] = 0
        ids, places = np.unique(np.concatenate([self.ids, tokens]), return_inverse=True)
        generated = np.bincount(places, np.concatenate([self.generated, weights]), len(ids))
        return TokenCounts(ids, generated.astype(np.int32), recent)

    def generated_only(self) -> "TokenCounts":
        """Without the tokens of the prompt alone."""
        generated = self.generated > 0
        return TokenCounts(self.ids[generated], self.generated[generated], self.recent)


NOTHING = TokenCounts(np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0, np.int32))
"""The counts of an empty text."""


@dataclass(frozen=True, slots=True)
class CountedText:
    """The counts of the first `length` tokens of a context, of which those from slot `since` on were generated."""

    since: int
    length: int = 0
    counts: TokenCounts = NOTHING

    def up_to(self, length: int, last_tokens: Callable[[int], Sequence[int]]) -> "CountedText":
        """The counts of its first `length` tokens; `last_tokens(n)` returns the last n of them."""
        if length == self.length:
            return self
        counts = self.after(last_tokens(length - self.length))
        return CountedText(self.since, length, counts)

    def after(self, tokens: Sequence[int]) -> TokenCounts:
        """The counts with `tokens` after the text."""
        return self.counts.after(tokens, max(0, min(self.since - self.length, len(tokens))))
