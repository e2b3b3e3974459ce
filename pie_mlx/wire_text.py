"""Text that leaves a process: what the wire, which is UTF-8, can carry of it."""

import re

_SURROGATES = re.compile("[\ud800-\udfff]")


def clean_text(text: str) -> str:
    """`text` as UTF-8 can carry it: a lone surrogate becomes U+FFFD."""
    return _SURROGATES.sub("\ufffd", text)
