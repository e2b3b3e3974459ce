"""Runs one program against its tape."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path

from pie_mlx.runtime.execution.outcome import Outcome
from pie_mlx.runtime.execution.program_run import ProgramRun
from pie_mlx.runtime.replay.host import ReplayHost
from pie_mlx.runtime.replay.replayed import Replayed, replayed
from pie_mlx.runtime.replay.tape import Tape
from pie_mlx.runtime.replay.virtual_time import ReplayLoop


class ReplayRun:
    """One replay of a program. `root` is its file or directory."""

    def __init__(self, tape: Tape, body: Callable[[], object], root: Path) -> None:
        self._tape = tape
        self._outcome: Outcome | None = None
        self.host = ReplayHost(tape, root, self._starve)
        self._program = ProgramRun(body, self.host, self._ended, new_loop=partial(ReplayLoop, self.host))

    def run(self, capture: AbstractContextManager[None]) -> Replayed:
        """Run the program to its end, or to the first call that differs, on this thread."""
        self._program.run(capture)
        return replayed(self._tape, self.host, self._outcome)

    def _starve(self) -> None:
        """What the recorded program waited for in vain was ended, and so is this one."""
        ended = self._tape.ended
        self._program.cancel(ended.error.message if ended is not None and ended.error is not None else "cancelled")

    def _ended(self, outcome: Outcome) -> None:
        self._outcome = outcome
