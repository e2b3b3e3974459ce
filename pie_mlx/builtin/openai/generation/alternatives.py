"""A constraint for one of several alternatives: a call, or an answer in the requested format."""

from inferlet import brle


class Alternatives:
    """A constraint that allows the tokens of any of several matchers. `accept_tokens` drops the matchers that forbid
    them; `decided` is the only remaining matcher, None while there are several."""

    def __init__(self, matchers):
        self._left = matchers

    @property
    def decided(self):
        return self._left[0] if len(self._left) == 1 else None

    def accept_tokens(self, tokens):
        self._left = [matcher for matcher in self._left if _accepts(matcher, tokens)]

    def step(self, accepted):
        """The mask after the tokens accepted so far, which `accepted` repeats."""
        masks = [matcher.next_token_logit_mask() for matcher in self._left]
        return brle.spans(*(span for mask in masks for span in _allowed(mask))) if all(masks) else []


def _allowed(mask):
    """The spans of tokens that a mask allows."""
    end = 0
    for place, length in enumerate(mask):
        start, end = end, end + length
        if place % 2:
            yield start, end


def _accepts(matcher, tokens):
    try:
        matcher.accept_tokens(tokens)
    except Exception as error:
        if getattr(error, "code", "") != "grammar_rejected":
            raise
        return False
    return True
