"""How a program failed, as people are told."""

from typing import Protocol

from pie_mlx.cli.options import Common
from pie_mlx.cli.reporting import FAILED, report
from pie_mlx.errors import ProcessCancelledError
from pie_mlx.events import SIGNAL


class Failure(Protocol):
    """An event or an outcome."""

    @property
    def error_type(self) -> str: ...

    @property
    def message(self) -> str: ...

    @property
    def hint(self) -> str: ...


def report_failed(what: str, failure: Failure, common: Common) -> int:
    """Say why, unless the last event has said it as JSON, and answer the exit code."""
    if not common.json:
        report(f"{what}: {reason(failure)}", failure.hint or _hint(failure), failure.error_type, common)
    return FAILED


def _hint(failure: Failure) -> str:
    """For errors that are not ours and have none."""
    is_import = failure.error_type in (ImportError.__name__, ModuleNotFoundError.__name__)
    return "'pie check' of its path names what cannot be imported, and why" if is_import else ""


def reason(failure: Failure) -> str:
    """The class and the message, which for a process that was ended is a word that clients compare."""
    was_ended = (failure.error_type, failure.message) == (ProcessCancelledError.__name__, SIGNAL)
    message = "it was ended by 'pie kill' or another client" if was_ended else failure.message
    return f"{failure.error_type}: {message}"
