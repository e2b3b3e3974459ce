"""Texts between an opening tag with a name and a closing one."""

import re
from collections.abc import Iterator


def tagged(
    text: str, opening: re.Pattern[str], closing: str, *, may_stay_open: bool = False
) -> Iterator[tuple[str, str]]:
    """The first group of each `opening`, and what follows it up to the next `closing`.

    Takes time in proportion to the text: an expression for both tags looks through the rest of it again for each
    opening that is not closed. The last one may lack its closing, then `may_stay_open` says whether it counts.
    """
    start = 0
    while found := opening.search(text, start):
        end = text.find(closing, found.end())
        if end < 0:
            if may_stay_open:
                yield found[1], text[found.end() :]
            return
        yield found[1], text[found.end() : end]
        start = end + len(closing)
