"""Every error pie-mlx raises, in one tree.

    PieError                          .code (stable snake_case), .message, .hint (what to do)
      InvalidArgumentError            also ValueError
      InvalidTypeError                also TypeError
      ContextError
        ContextReleasedError          use after release, drop or move
        ContextBusyError              not possible while a pass of this context is in flight
        ContextLengthError            the pass would exceed the model's maximum positions
      PageError
        OutOfPagesError               also MemoryError (.needed, .capacity)
        PageBoundsError               commit, release or truncate of more than the context has
        PageCommitError               a page that is not full, or positions that do not increase
        KvCapacityError               a low-level pass whose tokens do not fit the pages it reserved
      SnapshotError
        SnapshotNotFoundError
        SnapshotIncompatibleError
      BudgetError
        TokenBudgetError              (.needed, .remaining)
        AdmissionError
      ForwardError
        BatchFailedError              (.cause)
        ForwardTimeoutError           the pass waited too long for the device
        StepConsumedError             a pass or step executed twice
      ConstraintError
        GrammarError                  also ValueError
        GrammarRejectedError          a forbidden token was fed
        EmptyMaskError
      SpeculationError
      StructuredOutputError           also ValueError (.text)
      ModelError
        ModelNotFoundError
        ModelLoadError
        TemplateError
      AdapterError
        AdapterExistsError
        AdapterNotFoundError
        AdapterFormatError
        AdapterShapeError
      ProcessError
        LaunchError
          ProgramOwnerError           the name belongs to another user (.owner)
        ChildFailedError              (.child_type, .child_code, .child_message)
        ProcessCancelledError
      ChannelError
        SessionClosedError
        MessageOverflowError          (.dropped)
        McpError                      (.rpc_code, .data)
      ConfigError
      ProtocolError
      AuthError
        EngineKeyError                another engine than the known one is at this address
      EngineStoppedError

A class with two parents is also caught as the Python built-in named. The message says what and why; the hint says
what to do. `details` are the extra fields in brackets: they cross the wire and are attributes of the exception.
"""

import re
from typing import ClassVar

_REGISTRY: dict[str, type["PieError"]] = {}

Detail = str | int | float | bool | None


def _snake_case(class_name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", class_name.removesuffix("Error")).lower()


class PieError(Exception):
    """Base of every error of pie-mlx."""

    code: ClassVar[str] = "pie"

    def __init_subclass__(cls) -> None:
        cls.code = _snake_case(cls.__name__)
        _REGISTRY[cls.code] = cls

    def __init__(self, message: str, *, hint: str = "", **details: Detail) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.details = details
        for name, value in details.items():
            setattr(self, name, value)

    def __str__(self) -> str:
        return self.message


def from_code(code: str, message: str, hint: str, details: dict[str, Detail]) -> PieError:
    """The exception of a wire reply; an unknown code of a newer peer becomes a plain PieError."""
    return _REGISTRY.get(code, PieError)(message, hint=hint, **details)


class InvalidArgumentError(PieError, ValueError):
    """An argument outside its range, a bad name or an unknown option."""


class InvalidTypeError(PieError, TypeError):
    """An argument of a type that is not accepted."""


class ContextError(PieError):
    """Errors of one context."""


class ContextReleasedError(ContextError):
    """The context was released, dropped or moved."""


class ContextBusyError(ContextError):
    """Not possible while a pass of this context is in flight."""


class ContextLengthError(ContextError):
    """The pass would exceed the model's maximum positions."""


class PageError(PieError):
    """Errors of pages."""


class OutOfPagesError(PageError, MemoryError):
    """More pages than the pool can provide."""

    needed: int
    capacity: int


class PageBoundsError(PageError):
    """Commit, release or truncate of more than the context has."""


class PageCommitError(PageError):
    """A page that is not full, or positions that do not increase."""


class KvCapacityError(PageError):
    """A low-level pass whose tokens do not fit the pages it reserved."""


class SnapshotError(PieError):
    """Errors of saved contexts. The base class alone: the disk refused it, or the user keeps too many."""


class SnapshotNotFoundError(SnapshotError):
    """No snapshot of that name."""


class SnapshotIncompatibleError(SnapshotError):
    """A snapshot on disk of another model or tokenizer, or a context that cannot be kept there."""


class BudgetError(PieError):
    """A limit of the account."""


class TokenBudgetError(BudgetError):
    """The token wallet cannot pay for this pass."""

    needed: int
    remaining: int


class AdmissionError(BudgetError):
    """The launch can never be admitted."""


class ForwardError(PieError):
    """Errors of a forward pass."""


class BatchFailedError(ForwardError):
    """The batch failed on the device; nothing of it was kept."""

    cause: str


class ForwardTimeoutError(ForwardError):
    """A pass waited too long for the device; nothing of it was kept."""


class StepConsumedError(ForwardError):
    """A pass or step was executed twice."""


class ConstraintError(PieError):
    """Errors of constrained decoding."""


class GrammarError(ConstraintError, ValueError):
    """A grammar that does not compile or cannot be enforced."""


class GrammarRejectedError(ConstraintError):
    """A token was fed that the grammar forbids."""


class EmptyMaskError(ConstraintError):
    """The masks together allow no token."""


class SpeculationError(PieError):
    """Malformed drafts, or a speculator that raised."""


class StructuredOutputError(PieError, ValueError):
    """Collected text does not parse."""

    text: str


class ModelError(PieError):
    """Errors of a model."""


class ModelNotFoundError(ModelError):
    """No such model."""


class ModelLoadError(ModelError):
    """The model's files cannot be loaded."""


class TemplateError(ModelError):
    """The chat template is missing or cannot be split by turns."""


class AdapterError(PieError):
    """Errors of an adapter."""


class AdapterExistsError(AdapterError):
    """The adapter's name is taken."""


class AdapterNotFoundError(AdapterError):
    """No such adapter, or it was destroyed."""


class AdapterFormatError(AdapterError):
    """The adapter's files hold something unsupported."""


class AdapterShapeError(AdapterError):
    """The adapter belongs to another model."""


class ProcessError(PieError):
    """Errors of a running inferlet."""


class LaunchError(ProcessError):
    """The program cannot be started."""


class ProgramOwnerError(LaunchError):
    """The name of the program belongs to another user."""

    owner: str


class ChildFailedError(ProcessError):
    """A launched child ended with an error: its class, its code if it was a PieError, and its message."""

    child_type: str
    child_code: str
    child_message: str


def child_failure(process: str, error_type: str, code: str, message: str) -> ChildFailedError:
    """The error of a parent for a child that has failed."""
    return ChildFailedError(
        f"child {process}: {error_type}: {message}",
        hint="catch it; its traceback is in the output of the program that launched it",
        child_type=error_type,
        child_code=code,
        child_message=message,
    )


class ProcessCancelledError(ProcessError):
    """The process was cancelled."""


class ChannelError(PieError):
    """Errors of communication."""


class SessionClosedError(ChannelError):
    """The client is gone."""


class MessageOverflowError(ChannelError):
    """A subscription dropped messages, or the topics of a user hold too much."""

    dropped: int


class McpError(ChannelError):
    """An MCP server is unknown or answered with an error: `rpc_code` of JSON-RPC, and `data` as JSON text or ""."""

    rpc_code: int
    data: str


class ConfigError(PieError):
    """The configuration is invalid."""


class ProtocolError(PieError):
    """A frame violates the protocol."""


class AuthError(PieError):
    """Authentication failed."""


class EngineKeyError(AuthError):
    """The server does not prove which engine it is, or another engine is known at this address."""


class EngineStoppedError(PieError):
    """The engine has stopped."""
