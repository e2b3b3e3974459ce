"""A reply of one of several kinds: a call, or an answer in the requested format."""

from inferlet import brle


class Either:
    """A constraint that allows every token that one of several matchers allows. `take` feeds tokens; `decided` is the
    remaining matcher, None while there are several."""

    def __init__(self, matchers):
        self._left = matchers

    @property
    def decided(self):
        return self._left[0] if len(self._left) == 1 else None

    def take(self, tokens):
        self._left = [matcher for matcher in self._left if _takes(matcher, tokens)]

    def step(self, accepted):
        """The mask after the taken tokens, which `accepted` repeats."""
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
