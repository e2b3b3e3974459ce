"""The data of one refresh, for the screen on top."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from pie_mlx.tui.engine_tab import EngineMark
from pie_mlx.tui.model import MonitorState
from pie_mlx.tui.model.facts import Facts, ModelRow
from pie_mlx.tui.model.views.model_rows import model_rows
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
    def models(self) -> tuple[ModelRow, ...]:
        """The models of the engine, the default one first."""
        return model_rows(self.state, self.facts)

    @property
    def model(self) -> str:
        """The name of the model that is shown, if it is another than the default one."""
        return "" if self.state.pool.name == self.state.default_model else self.state.pool.name

    def of_model(self, what: str) -> str:
        """A title, with the model that is shown where there are several."""
        return f"{what} of {self.state.pool.name}" if len(self.models) > 1 else what

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
