"""Tables, sizes, and text that may hold control characters."""

import re
from collections.abc import Sequence

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns as wide as their widest cell; only the headings if there are no rows."""
    lines = [headings, *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(headings))]
    return "\n".join(_line(line, widths) for line in lines)


def size(count_bytes: int) -> str:
    """Bytes in the unit that gives one to four digits."""
    amount, unit = float(count_bytes), 0
    while amount >= 1024 and unit < len(_UNITS) - 1:
        amount, unit = amount / 1024, unit + 1
    return f"{count_bytes} B" if unit == 0 else f"{amount:.1f} {_UNITS[unit]}"


def without_controls(text: str) -> str:
    """`text` without what could move the cursor or speak to the terminal; tabs and line ends stay."""
    return _CONTROLS.sub("", text.replace("\r\n", "\n"))


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()
