"""A filled line of braille dots: two samples to a column, four steps to a row."""

from collections.abc import Callable, Sequence
from functools import lru_cache

from pie_mlx.tui.model.state import SAMPLE_SECONDS
from pie_mlx.tui.model.text import age
from pie_mlx.tui.widgets.canvas import Canvas, Line, Piece

_LEFT = (0x00, 0x40, 0x44, 0x46, 0x47)
_RIGHT = (0x00, 0x80, 0xA0, 0xB0, 0xB8)
_BRAILLE = 0x2800
AXIS_FROM = 4
"""The least height at which a chart has a time axis."""
AXIS_CELLS, AXIS_STEPS = 18, (10, 15, 30, 60, 120, 300, 600)
"""The least distance of its marks, and the seconds between them."""
_SPARKS = " ▁▂▃▄▅▆▇█"


def braille_rows(values: Sequence[float], width: int, height: int, top: float) -> list[str]:
    """Rows, uppermost first, of a filled area under `values`; `top` is its full height. The latest is on the right.

    A value above 0 has at least one dot. Without room there are no rows.
    """
    if width < 1:
        return []
    newest = list(values[-2 * width :])
    levels = [0] * (2 * width - len(newest)) + [_level(value, top, 4 * height) for value in newest]
    columns = [_column(left, right, height) for left, right in zip(levels[::2], levels[1::2], strict=True)]
    return ["".join(cells) for cells in zip(*columns, strict=True)]


def sparkline(values: Sequence[float], width: int, top: float = 0.0) -> str:
    """One row of blocks, the latest on the right."""
    newest = list(values[-width:])
    highest = top or max(newest, default=0.0)
    blocks = "".join(_SPARKS[_level(value, highest, 8)] for value in newest)
    return blocks.rjust(width)


def _level(value: float, top: float, steps: int) -> int:
    if value <= 0 or top <= 0:
        return 0
    return max(1, min(steps, round(value / top * steps)))


@lru_cache(4096)
def _column(left: int, right: int, height: int) -> tuple[str, ...]:
    """The cells of two samples, uppermost first."""
    return tuple(_dots(_part(left, below), _part(right, below)) for below in range(4 * height - 4, -1, -4))


def _dots(left: int, right: int) -> str:
    return chr(_BRAILLE + _LEFT[left] + _RIGHT[right]) if left or right else " "


def _part(level: int, below: int) -> int:
    return min(4, max(0, level - below))


def round_up(value: float) -> float:
    """The next of 1, 2 or 5 times a power of ten, for the top of an axis."""
    if value <= 0:
        return 1.0
    size = 10.0 ** _exponent(value)
    return next(step * size for step in (1, 2, 2.5, 5, 10) if step * size >= value * 0.999999)


def _exponent(value: float) -> int:
    digits = f"{value:e}"
    return int(digits.partition("e")[2])


class Chart(Canvas):
    """A trend with its axis; the value of now is in the border."""

    def __init__(
        self,
        title: str,
        tone: str,
        text: Callable[[float], str],
        *,
        id: str,
        unit: str = "",
        seconds: float = SAMPLE_SECONDS,
    ) -> None:
        """`seconds` is the time between two values."""
        super().__init__(id=id, classes="panel")
        self.name_border(title)
        self._tone, self._text, self._unit = tone, text, unit
        self._seconds = seconds
        self._values: Sequence[float] = ()
        self._now = 0.0
        self._top: float | None = None

    def show(self, values: Sequence[float], now: float, *, top: float | None = None) -> None:
        """`now` is the figure that the rest of the screen shows; `top` fixes the axis, which otherwise follows the
        visible values."""
        self._values, self._now, self._top = values, now, top
        self.name_border(subtitle=f"{self._text(now)}{self._unit}")
        self.repaint()

    def paint(self, width: int, height: int) -> list[Line]:
        top = self._top or round_up(max([self._now, *self._values[-2 * width :]]))
        margin = max(len(self._text(top)), len(self._text(top / 2)))
        room = width - margin - 1
        rows = height - 1 if height >= AXIS_FROM and room > 0 else height
        lines: list[Line] = []
        for row, dots in enumerate(braille_rows(self._values, room, rows, top)):
            label = self._text(top) if row == 0 else "0" if row == rows - 1 else ""
            label = self._text(top / 2) if rows >= 5 and row == rows // 2 else label
            strength = 100 - 45 * row // max(1, rows - 1) if rows > 1 else 100
            lines.append([Piece(f"{label:>{margin}} ", "muted"), Piece(dots, f"{self._tone}~{strength}")])
        if rows < height:
            lines.append([Piece(" " * (margin + 1) + time_axis(room, 2 * self._seconds), "muted")])
        return lines


def time_axis(width: int, cell_seconds: float) -> str:
    """Marks of `width` cells, each of so many seconds: how long ago, at whole steps, up to now on the right."""
    step = next((step for step in AXIS_STEPS if step / cell_seconds >= AXIS_CELLS), AXIS_STEPS[-1])
    axis = [" "] * width
    for seconds in range(0, int(width * cell_seconds) + 1, step):
        label = f"-{age(seconds)}" if seconds else "now"
        start = width - round(seconds / cell_seconds) - (len(label) if not seconds else 0)
        if start >= 0 and start + len(label) <= width:
            axis[start : start + len(label)] = label
    return "".join(axis)
