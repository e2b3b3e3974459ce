"""Conversations by hand: the tokens of turns, and the visible text of replies."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

from inferlet._calls.checks import checked_text
from inferlet._calls.payload import schema_texts
from inferlet._context.turn_tokens import TurnTokens, write_turn
from inferlet._decoding.decoder import QueueDecoder
from inferlet._decoding.items import Control, Item, TurnEnd, VisibleText
from inferlet.model import Model
from pie_mlx.calls import ChatState, Turn

_LATER = ChatState("flush", inline=True)
"""The state inside a conversation, after unknown tokens."""


@dataclass(frozen=True, slots=True)
class Idle:
    """Nothing to report."""


@dataclass(frozen=True, slots=True)
class Delta:
    """More visible text."""

    text: str


@dataclass(frozen=True, slots=True)
class Done:
    """The turn ended. `text` is the whole reply, `tail` its part that no Delta delivered."""

    text: str
    tail: str = ""


@dataclass(frozen=True, slots=True)
class Interrupt:
    """A control token outside any format."""

    token: int


class Event:
    """The events of the decoder, for `match`."""

    Idle: TypeAlias = Idle
    Delta: TypeAlias = Delta
    Done: TypeAlias = Done
    Interrupt: TypeAlias = Interrupt


AnyEvent = Idle | Delta | Done | Interrupt


class Decoder(QueueDecoder[AnyEvent]):
    """The visible text of a reply: without reasoning, tool calls and control tokens. With `schemas`, calls of
    other tools are text."""

    def __init__(self, model: Model, schemas: Iterable[str | dict[str, Any]] = ()) -> None:
        super().__init__(model, Idle(), schema_texts(schemas))

    def _begin(self) -> None:
        self._delivered: list[str] = []

    def _on_item(self, item: Item) -> None:
        match item:
            case VisibleText(text):
                self._add_text(Delta, text)
            case Control(token):
                self._queue.append(Interrupt(token))
            case TurnEnd():
                self._end_turn()
            case _:
                pass

    def _end_turn(self) -> None:
        """Replace the turn's waiting Deltas by the end of the turn, which carries their text."""
        waiting: list[AnyEvent] = []
        while self._queue and not isinstance(self._queue[-1], Done):
            waiting.insert(0, self._queue.pop())
        tail = "".join(event.text for event in waiting if isinstance(event, Delta))
        self._queue.extend(event for event in waiting if not isinstance(event, Delta))
        self._queue.append(Done("".join(self._delivered) + tail, tail))
        self._delivered = []

    def _next(self) -> AnyEvent:
        event = super()._next()
        if isinstance(event, Delta):
            self._delivered.append(event.text)
        return event


def system(model: Model, message: str) -> TurnTokens:
    """The tokens of a system message that begins a conversation. Raises TemplateError."""
    return write_turn(model, Turn("system", checked_text(message, "system")), ChatState())


def user(model: Model, message: str) -> TurnTokens:
    """The tokens of a user message inside a conversation. Raises TemplateError."""
    return write_turn(model, Turn("user", checked_text(message, "user")), _LATER)


def assistant(model: Model, message: str) -> TurnTokens:
    """The tokens of a past reply inside a conversation. Raises TemplateError."""
    return write_turn(model, Turn("assistant", checked_text(message, "assistant")), _LATER)


def cue(model: Model) -> TurnTokens:
    """The tokens that open the model's turn."""
    return write_turn(model, Turn("cue"), _LATER)


def seal(model: Model) -> TurnTokens:
    """The tokens that end the model's turn.

    Where a turn that calls a tool ends differently (gpt-oss, Gemma 4), these tokens end a turn without a call. A
    Context they are appended to knows whether there was a call, and writes the matching end.
    """
    return write_turn(model, Turn("seal"), _LATER)


def stop_tokens(model: Model) -> list[int]:
    """The tokens at which a reply ends."""
    return list(model.info.formats.stop_tokens)
