"""The values that a screen shows at a refresh."""

from dataclasses import dataclass
from functools import cached_property

from pie_mlx.tui.model import MonitorState
from pie_mlx.tui.model.facts import Facts
from pie_mlx.tui.model.program_row import ProgramRow, busiest, program_rows
from pie_mlx.tui.source.base import Link
from pie_mlx.tui.source.playback import Playback


@dataclass(frozen=True)
class View:
    """`subject` names the source, `refusal` says why no action is possible (empty: all), `notice` reports a fault."""

    state: MonitorState
    link: Link
    facts: Facts
    subject: str
    playback: Playback | None
    paused: bool
    refusal: str
    notice: str

    @cached_property
    def programs(self) -> list[ProgramRow]:
        """Live programs, biggest first, then ended ones."""
        return busiest(program_rows(self.state))

    @property
    def no_programs(self) -> str:
        """The text of a list without programs."""
        if self.link.state == "reconnecting":
            return "; ".join(filter(None, (self.link.text, self.link.hint)))
        return "no program has been launched yet"
