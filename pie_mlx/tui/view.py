"""The data of one refresh, for the screen on top."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from pie_mlx.tui.engine_tab import EngineMark
from pie_mlx.tui.model import MonitorState
from pie_mlx.tui.model.facts import Facts
from pie_mlx.tui.model.views.program_row import ProgramRow, busiest, program_rows
from pie_mlx.tui.source.base import Link
from pie_mlx.tui.source.playback import Playback


@dataclass(frozen=True)
class View:
    """`subject` names the source, `refusal` says why commands are refused, if they are; `notice` is a problem.

    `as_of` is when the engine last answered, as a time of day, if it no longer does; empty otherwise.
    """

    state: MonitorState
    link: Link
    facts: Facts
    subject: str
    playback: Playback | None
    paused: bool
    refusal: str
    notice: str
    as_of: str = ""
    engines: Sequence[EngineMark] = ()

    @cached_property
    def programs(self) -> list[ProgramRow]:
        """Living programs, those with most pages first, then ended ones."""
        return busiest(program_rows(self.state, self.facts.waits))

    @property
    def no_programs(self) -> str:
        """The text of an empty list of programs."""
        if self.link.state == "reconnecting":
            return "; ".join(filter(None, (self.link.text, self.link.hint)))
        return "no program has been launched yet"
