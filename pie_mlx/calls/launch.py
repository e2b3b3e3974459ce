"""Programs started by programs."""

from typing import Literal

from pie_mlx.calls.base import Call, Record


class LaunchChild(Call[str], frozen=True):
    """Start a program beside the caller, on the caller's wallet; `input` is JSON text. The reply is the child's id.

    Raises LaunchError for an unknown program, an input that does not fit, or a limit.
    """

    program: str
    input: str = "{}"


class ChildOutcome(Record, frozen=True):
    """How a child ended. `value` and `format` are its return value, the other fields the exception that ended it.

    `code` is the code of a PieError and "" for other exceptions.
    """

    state: Literal["returned", "failed", "cancelled"]
    value: str = ""
    format: Literal["text", "json", "none"] = "none"
    error_type: str = ""
    code: str = ""
    message: str = ""


class AwaitChild(Call[ChildOutcome], frozen=True):
    """Wait for the end of a child of the caller."""

    child: str


class CancelChild(Call[None], frozen=True):
    """Ask a child of the caller to end. Not an error if it has ended."""

    child: str


class ForgetChild(Call[None], frozen=True):
    """Give up the outcome of this child; the child keeps running."""

    child: str
