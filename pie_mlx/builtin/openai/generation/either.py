"""A reply that is one thing or another: a call, or an answer in the format that was asked for."""

from inferlet import brle


class Either:
    """A constraint that allows what one of several matchers does. `take` tells it of tokens; `decided` is the matcher
    that is left, None while there are more."""

    def __init__(self, matchers):
        self._left = matchers

    @property
    def decided(self):
        return self._left[0] if len(self._left) == 1 else None

    def take(self, tokens):
        self._left = [matcher for matcher in self._left if _takes(matcher, tokens)]

    def step(self, accepted):
        """The mask behind what was taken, which `accepted` repeats."""
        masks = [matcher.next_token_logit_mask() for matcher in self._left]
        return brle.spans(*(span for mask in masks for span in _allowed(mask))) if all(masks) else []


def _allowed(mask):
    """The spans of tokens that a mask allows."""
    end = 0
    for place, length in enumerate(mask):
        start, end = end, end + length
        if place % 2:
            yield start, end


def _takes(matcher, tokens):
    try:
        matcher.accept_tokens(tokens)
    except Exception as error:
        if getattr(error, "code", "") != "grammar_rejected":
            raise
        return False
    return True
