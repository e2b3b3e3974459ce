"""The reasoning of replies."""

from dataclasses import dataclass
from typing import TypeAlias

from inferlet._decoding.decoder import QueueDecoder
from inferlet._decoding.items import Item, ReasoningEnd, ReasoningStart, ReasoningText
from inferlet.model import Model


@dataclass(frozen=True, slots=True)
class Idle:
    """Nothing to report."""


@dataclass(frozen=True, slots=True)
class Start:
    """A reasoning block opened."""


@dataclass(frozen=True, slots=True)
class Delta:
    """More reasoning text."""

    text: str


@dataclass(frozen=True, slots=True)
class End:
    """The block closed; `text` is all of it."""

    text: str


class Event:
    """The events of the decoder, for `match`."""

    Idle: TypeAlias = Idle
    Start: TypeAlias = Start
    Delta: TypeAlias = Delta
    End: TypeAlias = End


AnyEvent = Idle | Start | Delta | End


class Decoder(QueueDecoder[AnyEvent]):
    """The reasoning blocks of a reply."""

    def __init__(self, model: Model) -> None:
        super().__init__(model, Idle())

    def _begin(self) -> None:
        self._block: list[str] = []

    def _on_item(self, item: Item) -> None:
        match item:
            case ReasoningStart():
                self._block = []
                self._queue.append(Start())
            case ReasoningText(text):
                self._block.append(text)
                self._add_text(Delta, text)
            case ReasoningEnd():
                self._queue.append(End("".join(self._block)))
            case _:
                pass
