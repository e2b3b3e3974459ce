"""The latest output of a program, and the messages it received."""

from collections.abc import Sequence

from pie_mlx.tui.model.process import Output
from pie_mlx.tui.model.text import clean
from pie_mlx.tui.widgets.canvas import Canvas, Line, Piece

TONES = {"message": "", "stdout": "main", "stderr": "bad", "file": "accent", "sent": "good"}
PREFIXES = {"message": "", "stdout": "", "stderr": "", "file": "file: ", "sent": "> "}


def wrapped(text: str, width: int) -> list[str]:
    """Lines of at most `width` characters, cut at spaces if possible."""
    lines: list[str] = []
    for line in text.split("\n"):
        rest = line
        while len(rest) > width:
            space = rest.rfind(" ", 1, width + 1)
            at = space if space > 0 else width
            lines.append(rest[:at])
            rest = rest[at:].removeprefix(" ")
        lines.append(rest)
    return lines


class Transcript(Canvas):
    """Shows the end of the output. `streams` are those shown; all if empty."""

    def __init__(self, title: str, *, id: str, streams: tuple[str, ...] = (), empty: str = "nothing yet") -> None:
        super().__init__(id=id, classes="panel")
        self.name_border(title)
        self._streams, self._empty = streams, empty
        self._output: Sequence[Output] = ()

    def show(self, output: Sequence[Output]) -> None:
        self._output = [piece for piece in output if not self._streams or piece.stream in self._streams]
        self.repaint()

    def paint(self, width: int, height: int) -> list[Line]:
        lines: list[Line] = []
        for piece in reversed(self._output):
            text = PREFIXES[piece.stream] + clean(piece.text).rstrip("\n")
            lines[:0] = [[Piece(line, TONES[piece.stream])] for line in wrapped(text, max(1, width))]
            if len(lines) >= height:
                break
        return lines[-height:] if lines else [[Piece(self._empty, "muted")]]
