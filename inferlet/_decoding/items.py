"""The items of a reply, in order."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

from pie_mlx.calls import ParsedToolCall

Parse = Callable[[str], list[ParsedToolCall]]
"""Parses the text of a block, delimiters included, into its calls; none if it does not parse."""


@dataclass(frozen=True, slots=True)
class VisibleText:
    """Text for the reader."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningStart:
    """A reasoning block opens."""


@dataclass(frozen=True, slots=True)
class ReasoningText:
    """Text of the open reasoning block."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningEnd:
    """The reasoning block closes."""


@dataclass(frozen=True, slots=True)
class CallStart:
    """A tool call block opens."""


@dataclass(frozen=True, slots=True)
class CallEnd:
    """A tool call block closed and parsed."""

    calls: list[ParsedToolCall]


@dataclass(frozen=True, slots=True)
class Control:
    """A control token that belongs to no format."""

    token: int


@dataclass(frozen=True, slots=True)
class TurnEnd:
    """The reply ended; the next token begins another one."""


Item = VisibleText | ReasoningStart | ReasoningText | ReasoningEnd | CallStart | CallEnd | Control | TurnEnd


class Scanner(Protocol):
    """Splits a token stream into items. Every part of the text is in exactly one item (D4)."""

    def feed(self, token: int) -> Iterator[Item]:
        """The items that one more token completes."""
        ...

    def finish(self) -> Iterator[Item]:
        """End the turn as a stop token would."""
        ...
