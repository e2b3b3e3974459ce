"""How a replay ended."""

import linecache
from typing import Literal

import msgspec

from pie_mlx.calls import Call
from pie_mlx.runtime.execution.outcome import Failed, Outcome
from pie_mlx.runtime.execution.program_run import Abandoned
from pie_mlx.runtime.replay.difference import call_name, difference_lines, value_lines
from pie_mlx.runtime.replay.host import ReplayHost
from pie_mlx.runtime.replay.tape import Disagreement, Tape


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


def replayed(tape: Tape, host: ReplayHost, outcome: Outcome | None) -> Replayed:
    """What a replay has shown up to now; `outcome` is None for a program that still runs."""
    result = Replayed(tape.launched.identity, "agrees", tape.made)
    if isinstance(outcome, Failed) and not isinstance(outcome.error, Abandoned):
        result = _changed(result, error=f"{outcome.error_type}: {outcome.message}")
    elif outcome is not None and not isinstance(outcome, Failed):
        result = _changed(result, value=outcome.value, format=outcome.format)
    if host.disagreement is not None:
        return _differing(result, host, host.disagreement)
    if host.is_over:
        return _changed(result, state="ended early")
    return result if outcome is None else _compared(tape, result, starved=host.has_starved)


def _differing(result: Replayed, host: ReplayHost, found: Disagreement) -> Replayed:
    place = host.place
    return _changed(
        result,
        state="differs",
        what=_what(found.before, found.after),
        lines=difference_lines(found),
        file=place.file if place else "",
        line=place.line if place else 0,
        code=linecache.getline(place.file, place.line).strip() if place else "",
    )


def _compared(tape: Tape, result: Replayed, *, starved: bool) -> Replayed:
    """The end: calls that were not made again, then the result."""
    ended = tape.ended
    if (left := tape.left()) is not None and (ended is None or not result.error):
        if not tape.is_whole:
            return _changed(result, state="ended early")
        found = Disagreement(left.message, None)
        return _changed(result, state="differs", what=_what(left.message, None), lines=difference_lines(found))
    if ended is None:
        return result
    before = f"{ended.error.kind}: {ended.error.message}" if ended.error is not None else ended.value
    after = result.error or result.value
    if before == after or (starved and ended.error is not None):
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
