"""One engine that the monitor shows, or keeps an eye on."""

from collections.abc import Iterable
from typing import NamedTuple

from pie_mlx.tui.controller import Controller
from pie_mlx.tui.inbox import Inbox
from pie_mlx.tui.model import MonitorState
from pie_mlx.tui.model.alerts import Alert
from pie_mlx.tui.model.text import moment
from pie_mlx.tui.source.base import EventSource, LinkState

SILENT_SECONDS = 7.0
"""A live engine answers every two seconds, or is at work on something that stops it."""


class EngineMark(NamedTuple):
    """An engine in the line of engines: `is_gone` if it does not answer, `rings` while an alert holds."""

    label: str
    link: LinkState
    is_gone: bool = False
    rings: bool = False
    is_shown: bool = False


class EngineTab:
    """A source with its controller, and what has come from it. `url` is the engine's address if one was given."""

    def __init__(self, source: EventSource, controller: Controller, url: str = "") -> None:
        self.source, self.controller, self.url = source, controller, url
        self.inbox = Inbox()
        self.model = ""
        """The name of the model whose pages and market are shown; the default one without."""
        self._holding: frozenset[Alert] = frozenset()

    def ring(self, alerts: Iterable[Alert], state: MonitorState) -> list[Alert]:
        """The alerts that begin to hold."""
        before = self._holding
        self._holding = frozenset(each for each in alerts if each.holds(state))
        return [each for each in self._holding if each not in before]

    def silent_since(self, state: MonitorState) -> str:
        """The time of day at which the engine last answered, if it does not answer; empty otherwise."""
        answered = self.inbox.answered_seconds
        return moment(answered, state.started_seconds) if self._is_gone(state) and answered else ""

    def mark(self, state: MonitorState, *, is_shown: bool) -> EngineMark:
        """How it stands in the line of engines."""
        link = self.inbox.connection.state
        return EngineMark(self.source.label, link, self._is_gone(state), bool(self._holding), is_shown)

    def _is_gone(self, state: MonitorState) -> bool:
        link = self.inbox.connection.state
        is_silent = link == "live" and state.seconds - self.inbox.answered_seconds > SILENT_SECONDS
        return link == "reconnecting" or is_silent
