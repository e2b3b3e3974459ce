"""What a person writes into a filter, as a test of texts."""

import re
from collections.abc import Callable, Iterable
from typing import TypeVar

INVERSE, FUZZY = "!", "~"

Item = TypeVar("Item")


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


def best_first(written: str, items: Iterable[Item], text: Callable[[Item], str]) -> list[Item]:
    """The items whose text has the letters of `written` in this order: those that begin with it, then those that
    contain it, then the others."""
    tests = (_searched("^" + re.escape(written)), _searched(re.escape(written)), text_filter(FUZZY + written))
    ranked = [(next((n for n, test in enumerate(tests) if test(text(item))), len(tests)), item) for item in items]
    return [item for rank, item in sorted(ranked, key=lambda pair: pair[0]) if rank < len(tests)]


def _searched(pattern: str) -> Callable[[str], bool]:
    expression = re.compile(pattern, re.IGNORECASE | re.DOTALL)
    return lambda text: expression.search(text) is not None
