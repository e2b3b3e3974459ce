"""The events of a decoded reply."""

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Text:
    """More visible text."""

    text: str


@dataclass(frozen=True, slots=True)
class Thinking:
    """More reasoning."""

    text: str


@dataclass(frozen=True, slots=True)
class ThinkingDone:
    """The reasoning block closed; `text` is all of it."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolCallStart:
    """A tool call is being written."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A complete call: the tool's name and its arguments as JSON text."""

    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Done:
    """The reply ended; `text` is all of its visible text."""

    text: str


class Event:
    """The events, for `match`."""

    Text: TypeAlias = Text
    Thinking: TypeAlias = Thinking
    ThinkingDone: TypeAlias = ThinkingDone
    ToolCallStart: TypeAlias = ToolCallStart
    ToolCall: TypeAlias = ToolCall
    Done: TypeAlias = Done


AnyEvent = Text | Thinking | ThinkingDone | ToolCallStart | ToolCall | Done
