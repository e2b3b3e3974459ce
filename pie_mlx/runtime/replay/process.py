"""Runs one program against its tape."""

import linecache
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Literal

import msgspec

from pie_mlx.calls import Call
from pie_mlx.runtime.execution.outcome import Failed, Outcome
from pie_mlx.runtime.execution.program_run import Abandoned, ProgramRun
from pie_mlx.runtime.replay.difference import call_name, difference_lines, value_lines
from pie_mlx.runtime.replay.host import ReplayHost
from pie_mlx.runtime.replay.tape import Disagreement, Tape
from pie_mlx.runtime.replay.virtual_time import ReplayLoop


class Replayed(msgspec.Struct, frozen=True):
    """How a replay ended.

    `agrees`: every call and the result are as recorded. `ended early`: so far, and then the recording was cut short.
    `differs`: `what` names the first difference, and `lines` shows it; `file`, `line` and `code` are where the program
    made it. `value`, `format` and `error` are the program's result, `output` what it
    printed, if that was captured.
    """

    identity: str
    state: Literal["agrees", "differs", "ended early"]
    calls: int
    what: str = ""
    lines: list[str] = []
    file: str = ""
    line: int = 0
    code: str = ""
    value: str = ""
    format: Literal["text", "json", "none"] = "none"
    error: str = ""
    output: str = ""

    @property
    def summary(self) -> str:
        """One line."""
        match self.state:
            case "agrees":
                return f"{self.identity}: agrees ({self.calls} calls)"
            case "ended early":
                return f"{self.identity}: agrees as far as the recording goes ({self.calls} calls)"
            case "differs":
                return f"{self.identity}: {self.what}, after {self.calls} calls that agree"

    def report(self) -> str:
        """The summary, and where and how it differs."""
        if self.state != "differs":
            return self.summary
        place = [f"  {self.file}:{self.line}", f"    {self.code}"] if self.file else []
        return "\n".join([self.summary, *place, *(f"  {line}" for line in self.lines)])


class ReplayRun:
    """One replay of a program. `root` is its file or directory."""

    def __init__(self, tape: Tape, body: Callable[[], object], root: Path) -> None:
        self._tape = tape
        self._outcome: Outcome | None = None
        self._starved = False
        self.host = ReplayHost(tape, root, self._starve)
        self._program = ProgramRun(body, self.host, self._ended, new_loop=partial(ReplayLoop, self.host))

    def run(self, capture: AbstractContextManager[None]) -> Replayed:
        """Run the program to its end, or to the first call that differs, on this thread."""
        self._program.run(capture)
        return self._replayed()

    def _starve(self) -> None:
        """What the recorded program waited for in vain was ended, and so is this one."""
        ended = self._tape.ended
        self._starved = True
        self._program.cancel(ended.error.message if ended is not None and ended.error is not None else "cancelled")

    def _ended(self, outcome: Outcome) -> None:
        self._outcome = outcome

    def _replayed(self) -> Replayed:
        tape, host = self._tape, self.host
        result = Replayed(tape.launched.identity, "agrees", tape.made)
        if isinstance(self._outcome, Failed) and not isinstance(self._outcome.error, Abandoned):
            result = _changed(result, error=f"{self._outcome.error_type}: {self._outcome.message}")
        elif self._outcome is not None and not isinstance(self._outcome, Failed):
            result = _changed(result, value=self._outcome.value, format=self._outcome.format)
        if host.disagreement is not None:
            return self._differing(result, host.disagreement)
        if host.is_over:
            return _changed(result, state="ended early")
        return self._compared(result)

    def _differing(self, result: Replayed, found: Disagreement) -> Replayed:
        place = self.host.place
        return _changed(
            result,
            state="differs",
            what=_what(found.before, found.after),
            lines=difference_lines(found),
            file=place.file if place else "",
            line=place.line if place else 0,
            code=linecache.getline(place.file, place.line).strip() if place else "",
        )

    def _compared(self, result: Replayed) -> Replayed:
        """The end: calls that were not made again, then the result."""
        ended = self._tape.ended
        if (left := self._tape.left()) is not None and (ended is None or not result.error):
            if not self._tape.is_whole:
                return _changed(result, state="ended early")
            found = Disagreement(left.message, None)
            return _changed(result, state="differs", what=_what(left.message, None), lines=difference_lines(found))
        if ended is None:
            return result
        before = f"{ended.error.kind}: {ended.error.message}" if ended.error is not None else ended.value
        after = result.error or result.value
        if before == after or (self._starved and ended.error is not None):
            return result
        what = "the result differs" if not result.error else "it fails"
        return _changed(result, state="differs", what=what, lines=value_lines(before, after))


def _what(before: Call[object] | None, after: Call[object] | None) -> str:
    if before is None and after is not None:
        return f"a call that was not recorded: {call_name(after)}"
    if after is None and before is not None:
        return f"it ends without the call: {call_name(before)}"
    return f"differs at: {call_name(after) if after is not None else ''}"


def _changed(result: Replayed, **fields: object) -> Replayed:
    return msgspec.structs.replace(result, **fields)
