"""How a program ended: what its client is told."""

import inspect
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, cast

import msgspec

from pie_mlx.errors import InvalidTypeError, PieError, ProcessError
from pie_mlx.wire_text import clean_text

VALUE_LIMIT_BYTES = 1_000_000
"""The longest return value; frames of the wire are bounded."""


@dataclass(frozen=True, slots=True)
class Returned:
    """A return value as it travels: text verbatim, everything else as JSON text, "" for None."""

    value: str
    format: Literal["text", "json", "none"]

    def decoded(self) -> Any:
        """The value for a Python caller: str, what the JSON says, or None."""
        match self.format:
            case "text":
                return self.value
            case "json":
                return json.loads(self.value)
            case "none":
                return None


@dataclass(frozen=True, slots=True)
class Failed:
    """An exception that ended the program.

    `error` is what callers get raised: the original, or what stands for it when the program ran in another process;
    `class_name` then names the class of the original.
    """

    error: BaseException
    class_name: str = ""

    @property
    def error_type(self) -> str:
        return self.class_name or type(self.error).__name__

    @property
    def message(self) -> str:
        return clean_text(str(self.error)) or self.error_type

    @property
    def hint(self) -> str:
        return self.error.hint if isinstance(self.error, PieError) else ""


Outcome = Returned | Failed


def returned(value: object) -> Returned:
    """Raises InvalidTypeError for what JSON cannot hold, ProcessError for what is too long to send."""
    text, format = _as_text(value)
    text = clean_text(text)
    size_bytes = len(text.encode())
    if size_bytes > VALUE_LIMIT_BYTES:
        raise ProcessError(
            f"return value is {size_bytes} bytes, the limit is {VALUE_LIMIT_BYTES}", hint="use session.send_file"
        )
    return Returned(text, format)


def _as_text(value: object) -> tuple[str, Literal["text", "json", "none"]]:
    if value is None:
        return "", "none"
    if isinstance(value, str):
        return value, "text"
    if inspect.isawaitable(value):
        raise InvalidTypeError(
            f"return value of type {type(value).__name__}: it has not been awaited", hint="write 'return await ...'"
        )
    try:
        plain = msgspec.to_builtins(value, str_keys=True, enc_hook=_plain_model)
        return json.dumps(plain, ensure_ascii=False, allow_nan=False), "json"
    except (TypeError, ValueError, NotImplementedError, RecursionError) as error:
        raise InvalidTypeError(
            f"return value of type {type(value).__name__}: {error}", hint="return a str or what JSON can hold"
        ) from error


def _plain_model(value: object) -> object:
    """pydantic models say themselves what they are as JSON; importing pydantic to recognise them would cost time."""
    dump = cast("Callable[..., object] | None", getattr(value, "model_dump", None))
    if dump is None:
        raise NotImplementedError(f"objects of type {type(value).__name__} are not JSON")
    return dump(mode="json")
