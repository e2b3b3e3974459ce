"""A widget drawn line by line from toned pieces of text; only changed lines are redrawn."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol, cast

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.geometry import Region, Size
from textual.strip import Strip
from textual.widget import Widget

from pie_mlx.tui.widgets.palette import Palette


class Piece(NamedTuple):
    """Text in one tone."""

    text: str
    tone: str = ""


Line = Sequence[Piece]


class HasPalette(Protocol):
    """The part of the application that widgets use."""

    palette: Palette


def cells(text: str) -> int:
    """The width of a text in cells of a terminal."""
    return len(text) if text.isascii() else cell_len(text)


def width_of(line: Line) -> int:
    """The width of a line in cells of a terminal."""
    return sum([cells(piece.text) for piece in line])


def fitted(line: Line, width: int, align: str = "left") -> list[Piece]:
    """The line, cut with an ellipsis or padded to exactly `width` cells."""
    have = width_of(line)
    if have <= width:
        gap = Piece(" " * (width - have))
        return [gap, *line] if align == "right" else [*line, gap]
    kept: list[Piece] = []
    left = width - 1
    for text, tone in line:
        size = cells(text)
        kept.append(Piece(text if size <= left else set_cell_size(text, left), tone))
        left -= size
        if left <= 0:
            break
    return [*kept, Piece("…", kept[-1].tone)] if width > 0 else []


class Canvas(Widget):
    """Subclasses return from `paint` the lines of `width` by `height` cells. Missing text is blank."""

    DEFAULT_CSS = "Canvas { height: auto; }"

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._lines: list[Line] = []
        self._painted = Size(0, 0)
        self._strips: dict[int, Strip] = {}
        self._styles: dict[str, Style] = {}
        self._styles_of: Palette | None = None
        self._base = Style()
        self._titles = ("", "")

    def paint(self, width: int, height: int) -> list[Line]:
        """The lines to show."""
        raise NotImplementedError

    def name_border(self, title: str | None = None, subtitle: str | None = None) -> None:
        """Change the titles of the border. They are plain text, never markup; only a change is drawn."""
        before_title, before_subtitle = self._titles
        if title is not None and title != before_title:
            self.border_title = Text(title)
        if subtitle is not None and subtitle != before_subtitle:
            self.border_subtitle = Text(subtitle)
        self._titles = (
            before_title if title is None else title,
            before_subtitle if subtitle is None else subtitle,
        )

    def repaint(self) -> None:
        """Paint, and redraw the lines that changed."""
        size = self.size
        if not self.is_attached or not size:
            return
        before, self._lines = self._lines, self.paint(*size)
        if self._painted != size:
            self._painted = size
            self._strips.clear()
            self.refresh()
            return
        for y in range(size.height):
            if _line(before, y) != _line(self._lines, y):
                self._strips.pop(y, None)
                self.refresh(Region(0, y, size.width, 1))

    def notify_style_update(self) -> None:
        """The colours may have changed."""
        super().notify_style_update()
        self._styles_of = None

    def render_line(self, y: int) -> Strip:
        if self._styles_of is not self.palette:
            self._use_styles()
        size = self.size
        if self._painted != size:
            self._lines, self._painted = self.paint(*size), size
            self._strips.clear()
        strip = self._strips.get(y)
        if strip is None:
            segments = [Segment(text, self._style(tone)) for text, tone in _line(self._lines, y)]
            strip = self._strips[y] = Strip(segments).adjust_cell_length(size.width, self._base)
        return strip

    def _use_styles(self) -> None:
        self._styles_of, self._base = self.palette, self.rich_style
        self._styles.clear()
        self._strips.clear()

    def _style(self, tone: str) -> Style:
        found = self._styles.get(tone)
        if found is None:
            found = self._styles[tone] = self._base + self.palette.style(tone)
        return found

    @property
    def palette(self) -> Palette:
        """The application's palette."""
        return cast("HasPalette", self.app).palette  # pyright: ignore[reportUnknownMemberType]


def _line(lines: list[Line], y: int) -> Line:
    return lines[y] if y < len(lines) else ()
