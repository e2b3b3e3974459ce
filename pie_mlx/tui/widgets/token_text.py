"""A text of tokens, each in the tone of its probability, with a cursor on one of them."""

from collections.abc import Sequence
from typing import ClassVar

from textual import events
from textual.binding import BindingType
from textual.message import Message

from pie_mlx.tui.model.text import clean
from pie_mlx.tui.model.token_stream import StreamedToken
from pie_mlx.tui.widgets.canvas import Canvas, Line, Piece, cells, fitted

SHADES = ((0.9, ""), (0.5, "main"), (0.2, "warn"), (0.05, "accent"), (0.0, "bad"))
"""The least probability of each tone."""
LEGEND: tuple[Piece, ...] = (
    *(Piece(f"■ {least:.0%}+  ", tone) for least, tone in SHADES[:-1]),
    Piece(f"■ <{SHADES[-2][0]:.0%}   ", SHADES[-1][1]),
    Piece("drafted", "_"),
    Piece("  "),
    Piece("×", "bad"),
    Piece(" draft rejected   ", "muted"),
    Piece("forced", "!"),
)


def shade(probability: float) -> str:
    """The tone of a token by its probability."""
    return next(tone for least, tone in SHADES if probability >= least)


def shown_text(text: str) -> str:
    """The text of a token on one line; one without anything to see stands as a mark."""
    visible = clean(text.replace("\n", "↵").replace("\r", "").replace("\t", "→"))
    return visible or "∅"


class _Row:
    """A line of the text: its pieces, and for each token on it the cells from `start` on, with its number."""

    def __init__(self) -> None:
        self.pieces: list[Piece] = []
        self.starts: list[tuple[int, int]] = []
        self.width = 0

    def add(self, piece: Piece) -> None:
        self.pieces.append(piece)
        self.width += cells(piece.text)


class TokenText(Canvas, can_focus=True):
    """Shows tokens up to number `end`. The cursor follows the latest one until it is moved away from it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        ("left", "move(-1)", "The token before"),
        ("right", "move(1)", "The next token"),
        ("up", "line(-1)", "A line up"),
        ("down", "line(1)", "A line down"),
        ("home", "first", "The first token"),
        ("end", "last", "Follow the latest token"),
    ]

    class Moved(Message):
        """The cursor is on another token."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id, classes="panel")
        self.empty = ""
        self._tokens: Sequence[StreamedToken] = ()
        self._end = 0
        self._cursor: int | None = None
        self._rows: list[_Row] = []
        self._top = 0

    @property
    def follows(self) -> bool:
        """Whether the cursor stays on the latest token."""
        return self._cursor is None

    @property
    def token(self) -> StreamedToken | None:
        """The one under the cursor."""
        return self._tokens[self._place()] if self._tokens else None

    def show(self, tokens: Sequence[StreamedToken], end: int) -> None:
        """Replace the tokens; `end` is the number after the last one."""
        self._tokens, self._end = tokens, end
        self.repaint()

    def follow(self, follows: bool) -> None:
        """Put the cursor on the latest token, or hold it where it is."""
        self._put(len(self._tokens) if follows else self._place())

    def paint(self, width: int, height: int) -> list[Line]:
        if not self._tokens:
            return [[Piece(line, "muted")] for line in self.empty.split("\n")]
        self._rows = self._laid_out(max(2, width))
        height = max(1, height - 1)
        here = self._row()
        self._top = max(here - height + 1, min(self._top, here, max(0, len(self._rows) - height)))
        shown: list[Line] = [row.pieces for row in self._rows[self._top : self._top + height]]
        return [*shown, *[[]] * (height - len(shown)), fitted(LEGEND, width)]

    def _laid_out(self, width: int) -> list[_Row]:
        rows, cursor = [_Row()], self._place()
        for place, token in enumerate(self._tokens):
            if token.missed:
                rows[-1].add(Piece(f"[{token.missed} missed]", "warn"))
            drawn, text = token.drawn, shown_text(token.drawn.text)
            mark = [Piece("×", "bad")] if token.rejected else []
            if rows[-1].width and rows[-1].width + len(mark) + cells(text) > width:
                rows.append(_Row())
            rows[-1].starts.append((rows[-1].width, place))
            for piece in mark:
                rows[-1].add(piece)
            tone = shade(drawn.probability) + "!" * (drawn.allowed == 1) + "_" * drawn.drafted
            rows[-1].add(Piece(text[:width], tone + "^" * (place == cursor)))
            if drawn.text.endswith("\n"):
                rows.append(_Row())
        return rows

    def _place(self) -> int:
        """The cursor's place among the tokens."""
        last = len(self._tokens) - 1
        return last if self._cursor is None else max(0, min(last, self._cursor - (self._end - len(self._tokens))))

    def _row(self) -> int:
        place = self._place()
        return next((y for y, row in enumerate(self._rows) if row.starts and row.starts[-1][1] >= place), 0)

    def _put(self, place: int) -> None:
        place = max(0, place)
        self._cursor = None if place >= len(self._tokens) else self._end - len(self._tokens) + place
        self.repaint()
        self.post_message(self.Moved())

    def action_move(self, by: int) -> None:
        self._put(self._place() + by)

    def action_line(self, by: int) -> None:
        rows = [row for row in self._rows if row.starts]
        here = next((y for y, row in enumerate(rows) if row.starts[-1][1] >= self._place()), 0)
        if 0 <= here + by < len(rows):
            column = next((start for start, place in rows[here].starts if place == self._place()), 0)
            self._put(_at(rows[here + by], column))

    def action_first(self) -> None:
        self._put(0)

    def action_last(self) -> None:
        self._put(len(self._tokens))

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        if offset is not None and self._top + offset.y < len(self._rows):
            row = self._rows[self._top + offset.y]
            if row.starts:
                self._put(_at(row, offset.x))


def _at(row: _Row, column: int) -> int:
    """The place of the token in a column of a row."""
    return [place for start, place in row.starts if start <= max(column, row.starts[0][0])][-1]
