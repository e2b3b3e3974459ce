"""What a program draws, token by token: how likely each was, and what else was."""

import contextlib
from collections.abc import Iterator
from functools import partial
from typing import ClassVar

from textual.containers import Container
from textual.widget import Widget

from pie_mlx.errors import PieError
from pie_mlx.plural import plural
from pie_mlx.tui.model.process import ProcessState
from pie_mlx.tui.model.text import count, one_line
from pie_mlx.tui.model.token_stream import StreamedToken, TokenStream
from pie_mlx.tui.screens.base import MonitorScreen, place_bindings
from pie_mlx.tui.source.base import EventSource
from pie_mlx.tui.view import View
from pie_mlx.tui.widgets.canvas import Canvas, Line, Piece, fitted
from pie_mlx.tui.widgets.column import Column
from pie_mlx.tui.widgets.table import Table
from pie_mlx.tui.widgets.token_text import TokenText, shade, shown_text

WORD_CELLS = 16
RECORDED = "no tokens of it were watched when this was recorded"
WAITING = "it has drawn nothing since it is watched"


def grammar_text(allowed: int) -> str:
    """What grammars and masks left to choose from."""
    if allowed == 1:
        return "forced: nothing else was allowed"
    return f"{plural(allowed, 'token')} were allowed" if allowed else "every token was allowed"


def draft_text(token: StreamedToken) -> str:
    """What became of drafts at its place; empty if there were none."""
    if token.rejected:
        return "rejected drafts: " + " ".join(f"'{shown_text(text)}'" for text in token.rejected)
    return "an accepted draft" if token.drawn.drafted else ""


class TokenDetail(Canvas):
    """One token, and the tokens that were likely instead."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id, classes="panel")
        self.name_border("Token")
        self._token: StreamedToken | None = None

    def show(self, token: StreamedToken | None) -> None:
        self._token = token
        self.repaint()

    def paint(self, width: int, height: int) -> list[Line]:
        if self._token is None:
            return []
        drawn = self._token.drawn
        name = Piece(f"'{shown_text(drawn.text)}' ", shade(drawn.probability) + "!")
        states = [grammar_text(drawn.allowed), draft_text(self._token)]
        head: list[Line] = [
            [name, Piece(f"{drawn.probability:.1%}", "bright"), Piece(f"  id {drawn.token}", "muted")],
            [Piece(", ".join(filter(None, states)), "muted")],
        ]
        room = max(0, width - WORD_CELLS - 9)
        return [*head, *(self._likely(each.text, each.probability, each.token, room) for each in drawn.likely)]

    def _likely(self, text: str, probability: float, token: int, room: int) -> Line:
        is_drawn = self._token is not None and token == self._token.drawn.token
        mark, tone = ("▸", "bright") if is_drawn else (" ", "")
        word = fitted([Piece(mark + shown_text(text), tone)], WORD_CELLS)
        bar = Piece("█" * round(probability * room), shade(probability) or "good")
        return [*word, Piece(f"{probability:>7.1%} ", "muted"), bar]


def _chance(stream: TokenStream) -> float:
    """The mean probability of its tokens."""
    return sum(token.drawn.probability for token in stream.tokens) / max(1, len(stream.tokens))


Streams = Column[TokenStream]
STREAMS = (
    Streams("ctx", 6, lambda stream: Piece(f"#{stream.context}", "main"), lambda stream: stream.context, "right"),
    Streams("tokens", 6, lambda stream: count(len(stream.tokens)), lambda stream: len(stream.tokens), "right"),
    Streams("mean", 5, lambda stream: f"{_chance(stream):.0%}", _chance, "right"),
    Streams("latest", 0, lambda stream: Piece("".join(shown_text(each.drawn.text) for each in stream.tokens[-8:]))),
)


class TokensScreen(MonitorScreen):
    """The engine gathers what is shown only while this screen watches the program."""

    NAME = "tokens"
    TAB = "inferlets"
    AUTO_FOCUS = "#text"
    BINDINGS: ClassVar = place_bindings("tokens")

    def __init__(self, process: str) -> None:
        super().__init__()
        self.text = TokenText(id="text")
        self.token = TokenDetail(id="token")
        self.streams = Table[TokenStream](
            STREAMS, lambda stream: str(stream.context), title="Contexts", id="streams", empty="none has drawn"
        )
        self._process, self._refusal = process, ""

    def body(self) -> Iterator[Widget]:
        yield self.text
        yield Container(self.token, self.streams, id="below")

    def on_mount(self) -> None:
        super().on_mount()
        self.run_worker(self._watch)

    def on_unmount(self) -> None:
        self.monitor.run_worker(partial(_leave, self.monitor.source), name="unwatch")

    async def _watch(self) -> None:
        try:
            await self.monitor.source.watch_tokens(self._process)
        except (PieError, OSError) as error:
            hint = error.hint if isinstance(error, PieError) else ""
            self._refusal = "\n".join(map(one_line, filter(None, (str(error), hint))))
            self.show_body(self.monitor.view)

    def show_body(self, view: View) -> None:
        streams = [stream for stream in view.state.streams.values() if stream.process == self._process]
        self.streams.show(sorted(streams, key=lambda stream: -stream.context))
        stream = self.streams.selected_item
        self.text.empty = self._refusal or (RECORDED if view.playback else WAITING)
        self.text.show(stream.tokens if stream else (), stream.end if stream else 0)
        self.token.show(self.text.token)
        process = view.state.processes.get(self._process)
        self.text.name_border(_title(process, stream), self._figures(stream))

    def _figures(self, stream: TokenStream | None) -> str:
        if stream is None:
            return ""
        drawn = [token.drawn for token in stream.tokens]
        drafted, forced = sum(token.drafted for token in drawn), sum(token.allowed == 1 for token in drawn)
        rejected = sum(len(token.rejected) for token in stream.tokens)
        parts = [
            plural(len(drawn), "token"),
            f"{drafted} drafted",
            f"{plural(rejected, 'draft')} rejected",
            f"{forced} forced",
        ]
        missed = [f"{stream.missed} missed"] if stream.missed else []
        return ", ".join([*parts, *missed, "following" if self.text.follows else "g follows"])

    def on_table_selected(self, message: Table.Selected) -> None:
        self.text.follow(True)
        self.show_body(self.monitor.view)

    def on_token_text_moved(self, message: TokenText.Moved) -> None:
        self.show_body(self.monitor.view)

    def action_follow(self) -> None:
        self.text.follow(not self.text.follows)

    def action_open(self) -> None:
        """Already open."""

    def selected_process(self) -> str:
        return self._process

    def leave(self) -> None:
        self.dismiss()


async def _leave(source: EventSource) -> None:
    with contextlib.suppress(PieError, OSError):
        await source.watch_tokens("")


def _title(process: ProcessState | None, stream: TokenStream | None) -> str:
    name = f"Tokens of {process.program} {process.id[:8]}" if process else "Tokens"
    return f"{name}, context #{stream.context}" if stream else name
