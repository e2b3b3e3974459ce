"""Text of strangers on a terminal."""

import re

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def without_controls(text: str) -> str:
    """`text` without what could move the cursor or speak to the terminal; tabs and line ends stay."""
    return _CONTROLS.sub("", text.replace("\r\n", "\n"))
