"""Text that leaves a process, made valid UTF-8 for the wire."""

import re

_SURROGATES = re.compile("[\ud800-\udfff]")


def clean_text(text: str) -> str:
    """`text` as valid UTF-8: a lone surrogate becomes U+FFFD."""
    return _SURROGATES.sub("\ufffd", text)
