"""The lines of every screen: the connection above, the keys below."""

from collections.abc import Sequence
from typing import NamedTuple

from textual import events
from textual.message import Message

from pie_mlx.tui.widgets.canvas import Canvas, Line, Piece, fitted, width_of


class Heading(NamedTuple):
    """`link` and its tone, the source, and figures for the right side, most important first."""

    link: str
    tone: str
    subject: str
    figures: Sequence[Sequence[Piece]]
    notice: str = ""


class StatusBar(Canvas):
    """One line: connection on the left, figures on the right as far as they fit; a notice replaces them."""

    def __init__(self) -> None:
        super().__init__(id="status")
        self.heading = Heading("", "muted", "", ())

    def show(self, heading: Heading) -> None:
        self.heading = heading
        self.repaint()

    def paint(self, width: int, height: int) -> list[Line]:
        heading = self.heading
        left = [
            Piece(" pie ", "main!"),
            Piece("● ", heading.tone),
            Piece(heading.link, f"{heading.tone}!"),
            Piece(f"  {heading.subject}", "muted"),
        ]
        if heading.notice:
            left += [Piece("  "), Piece(heading.notice, "warn")]
        right: list[Piece] = [Piece(" ")]
        for figure in heading.figures:
            if width_of(left) + width_of(right) + width_of(figure) + 4 > width:
                break
            right = [*figure, Piece("  " if len(right) > 1 else ""), *right]
        return [[*fitted(left, width - width_of(right)), *right]]


ROOMY_CELLS = 110
PINNED = 2


class TabBar(Canvas):
    """The screens and their digits."""

    class Chosen(Message):
        def __init__(self, tab: str) -> None:
            super().__init__()
            self.tab = tab

    def __init__(self, tabs: Sequence[tuple[str, str]], active: str) -> None:
        """`tabs` are ids and names."""
        super().__init__(id="tabs")
        self._tabs, self._active = tabs, active

    def paint(self, width: int, height: int) -> list[Line]:
        pieces: list[Piece] = []
        for tab, number, name in self._labels(width):
            if tab == self._active:
                pieces += [Piece(f"{number}{name}", "cursor")]
            else:
                pieces += [Piece(number, "main~70"), Piece(name, "muted")]
        return [pieces]

    def _labels(self, width: int) -> list[tuple[str, str, str]]:
        """Id, digit and name of each, closer together on a narrow terminal, where names are cut as far as needed."""
        names = [(tab, str(number % 10), name) for number, (tab, name) in enumerate(self._tabs, 1)]
        if width >= ROOMY_CELLS:
            return [(tab, f" {number} ", f"{name} ") for tab, number, name in names]
        fitting = [size for size in range(12) if sum(2 + len(name[:size]) for *_, name in names) <= width + 1]
        longest = max(fitting, default=0)
        return [(tab, number, f"{name[:longest]} ") for tab, number, name in names]

    def on_click(self, event: events.Click) -> None:
        start = 0
        for tab, number, name in self._labels(self.size.width):
            size = len(number + name)
            if start <= event.x < start + size:
                self.post_message(self.Chosen(tab))
            start += size


class EngineLabel(NamedTuple):
    """`tone` is of its connection."""

    name: str
    tone: str
    is_dim: bool = False
    rings: bool = False
    is_shown: bool = False


class EngineBar(Canvas):
    """The engines, and how they are."""

    class Chosen(Message):
        def __init__(self, place: int) -> None:
            super().__init__()
            self.place = place

    def __init__(self) -> None:
        super().__init__(id="engines")
        self._labels: Sequence[EngineLabel] = ()

    def show(self, labels: Sequence[EngineLabel]) -> None:
        self._labels = labels
        self.repaint()

    def paint(self, width: int, height: int) -> list[Line]:
        return [[piece for label in self._labels for piece in self._pieces(label)]]

    def _pieces(self, label: EngineLabel) -> list[Piece]:
        tone = "cursor" if label.is_shown else "faint" if label.is_dim else "muted"
        mark = Piece("! " if label.rings else "  ", "warn!")
        return [Piece(" ● ", label.tone), Piece(f" {label.name} ", tone), mark]

    def on_click(self, event: events.Click) -> None:
        start = 0
        for place, label in enumerate(self._labels):
            end = start + width_of(self._pieces(label))
            if start <= event.x < end:
                self.post_message(self.Chosen(place))
            start = end


class KeyBar(Canvas):
    """Keys and their labels, as many as fit; the last PINNED, which lead to all others, are always shown."""

    def __init__(self) -> None:
        super().__init__(id="keys")
        self._keys: Sequence[tuple[str, str]] = ()

    def show(self, keys: Sequence[tuple[str, str]]) -> None:
        self._keys = keys
        self.repaint()

    def paint(self, width: int, height: int) -> list[Line]:
        pinned = [piece for key in self._keys[-PINNED:] for piece in _key(*key)]
        room = width - width_of(pinned)
        pieces: list[Piece] = [Piece(" ")]
        for key in self._keys[:-PINNED]:
            if width_of(pieces) + width_of(_key(*key)) > room:
                break
            pieces += _key(*key)
        return [[*pieces, *pinned]]


def _key(key: str, label: str) -> list[Piece]:
    return [Piece(key, "main!"), Piece(f" {label}   ", "muted")]


class Place(NamedTuple):
    """The position of a recording."""

    playing: bool
    fraction: float
    now: str
    length: str
    speed: str


class ReplayBar(Canvas):
    """The position in a recording; a click seeks."""

    class Sought(Message):
        def __init__(self, fraction: float) -> None:
            super().__init__()
            self.fraction = fraction

    def __init__(self) -> None:
        super().__init__(id="replay")
        self._place = Place(False, 0.0, "", "", "")

    def show(self, place: Place) -> None:
        self._place = place
        self.repaint()

    def paint(self, width: int, height: int) -> list[Line]:
        place = self._place
        start, end = self._track(width)
        cells = end - start
        done = round(place.fraction * cells)
        sign = Piece(" ▶ " if place.playing else " ‖ ", "good" if place.playing else "warn")
        pieces = [
            sign,
            Piece(f"{place.now} ", "bright"),
            Piece("━" * done, "main"),
            Piece("─" * (cells - done), "faint"),
        ]
        return [[*pieces, Piece(f" {place.length} {place.speed:>5} ", "muted")]]

    def on_click(self, event: events.Click) -> None:
        start, end = self._track(self.size.width)
        if start <= event.x < end:
            self.post_message(self.Sought((event.x - start) / max(1, end - start - 1)))

    def _track(self, width: int) -> tuple[int, int]:
        place = self._place
        return 4 + len(place.now), max(5 + len(place.now), width - len(place.length) - 8)
