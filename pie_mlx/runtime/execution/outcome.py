"""How a program ended, in the form its client gets."""

import inspect
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, cast

import msgspec

from pie_mlx.errors import InvalidTypeError, PieError, ProcessError
from pie_mlx.runtime.program.entry_kind import SDK_ALIAS
from pie_mlx.wire_text import clean_text

VALUE_LIMIT_BYTES = 1_000_000
"""The longest return value: it must fit a frame."""


@dataclass(frozen=True, slots=True)
class Returned:
    """An encoded return value: text verbatim, anything else as JSON text, "" for None."""

    value: str
    format: Literal["text", "json", "none"]

    def decoded(self) -> Any:
        """The value for a Python caller: str, decoded JSON, or None."""
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

    `error` is raised for callers. If the program ran in another process it replaces the original, whose class is
    `class_name`.
    """

    error: BaseException
    class_name: str = ""

    @property
    def error_type(self) -> str:
        return self.class_name or type(self.error).__name__

    @property
    def message(self) -> str:
        return as_imported(clean_text(str(self.error))) or self.error_type

    @property
    def hint(self) -> str:
        return self.error.hint if isinstance(self.error, PieError) else ""


Outcome = Returned | Failed


def as_imported(text: str) -> str:
    """The text with the errors under the name by which programs import them."""
    return text.replace("pie_mlx.errors", f"{SDK_ALIAS}.errors")


def returned(value: object) -> Returned:
    """Raises InvalidTypeError if JSON cannot hold the value, ProcessError if it is too long to send."""
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
    """Recognise pydantic models by their method: importing pydantic would cost time."""
    dump = cast("Callable[..., object] | None", getattr(value, "model_dump", None))
    if dump is None:
        raise NotImplementedError(f"objects of type {type(value).__name__} are not JSON")
    return dump(mode="json")
