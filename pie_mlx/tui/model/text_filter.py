"""What a person writes into a filter, as a test of texts."""

import re
from collections.abc import Callable

INVERSE, FUZZY = "!", "~"


def text_filter(written: str) -> Callable[[str], bool]:
    """A test of texts, in any case: whether the regular expression `written` is found, or the text itself if it is no
    regular expression. `~abc` finds these letters in this order; `!` before any of them keeps what is not found."""
    if written.startswith(INVERSE):
        found = text_filter(written[1:])
        return lambda text: not found(text)
    if written.startswith(FUZZY):
        return _searched(".*".join(re.escape(letter) for letter in written[1:]))
    try:
        return _searched(written)
    except re.error:
        return _searched(re.escape(written))


def _searched(pattern: str) -> Callable[[str], bool]:
    expression = re.compile(pattern, re.IGNORECASE | re.DOTALL)
    return lambda text: expression.search(text) is not None
