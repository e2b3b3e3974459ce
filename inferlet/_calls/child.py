"""A program this inferlet launched."""

import json
from typing import Any, NoReturn

from inferlet._calls.checks import checked_text
from inferlet._calls.host import HostLink, current_host
from inferlet._calls.payload import json_text
from pie_mlx.calls import AwaitChild, CancelChild, ChildOutcome, ForgetChild, LaunchChild
from pie_mlx.errors import ProcessCancelledError, child_failure


class Child:
    """A launched program, which keeps running when this handle is dropped.

    `pid` is its process id, the same that `pie ps` and clients show.
    """

    def __init__(self, host: HostLink, pid: str) -> None:
        self.pid = pid
        self._host = host
        self._outcome: ChildOutcome | None = None

    async def result(self) -> Any:
        """Its return value: text as it is, otherwise the value of its JSON. May be awaited more than once.

        Raises ChildFailedError with the `child_type`, `child_code` and `child_message` of the error that ended it, and
        ProcessCancelledError when it was cancelled.
        """
        if self._outcome is None:
            self._outcome = await self._host.submit(AwaitChild(self.pid))
        return _value(self.pid, self._outcome)

    def cancel(self) -> None:
        """Ask it to end; after a grace period the engine abandons it and its children. No error when it has ended."""
        self._host.call(CancelChild(self.pid))

    def __del__(self) -> None:
        # Nothing may escape a finalizer: the engine may be gone, the object half built, the interpreter ending.
        try:
            self._host.drop(ForgetChild(self.pid))
        except Exception:
            return


def launch(program: str, input: Any = None) -> Child:
    """Start a program beside this one, for the same user and on the same wallet.

    `program` is the path of a program in this program's directory, or the name of an installed one. `input` is a dict,
    a str with a JSON object, another str, which becomes `{"input": ...}`, or None. Raises LaunchError for an
    unknown program, an input that does not fit, or too many programs or generations of them.
    """
    host = current_host()
    return Child(host, host.call(LaunchChild(checked_text(program, "program"), _input_text(input))))


def _input_text(input: Any) -> str:
    if not isinstance(input, str):
        return json_text("input", {} if input is None else input)
    try:
        holds_object = isinstance(json.loads(input), dict)
    except (ValueError, RecursionError):
        holds_object = False
    return checked_text(input, "input") if holds_object else json_text("input", {"input": checked_text(input, "input")})


def _value(pid: str, outcome: ChildOutcome) -> Any:
    if outcome.state != "returned":
        _fail(pid, outcome)
    match outcome.format:
        case "text":
            return outcome.value
        case "json":
            return json.loads(outcome.value)
        case "none":
            return None


def _fail(pid: str, outcome: ChildOutcome) -> NoReturn:
    if outcome.state == "cancelled":
        raise ProcessCancelledError(f"child {pid}: {outcome.message}", hint="launch it again")
    raise child_failure(pid, outcome.error_type, outcome.code, outcome.message)
