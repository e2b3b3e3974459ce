"""Replies made of messages with headers (gpt-oss): a header names the channel and the recipient of its message."""

import re
from collections.abc import Iterator, Mapping
from typing import Literal

from inferlet._decoding.items import (
    CallEnd,
    CallStart,
    Control,
    Item,
    Parse,
    ReasoningEnd,
    ReasoningStart,
    ReasoningText,
    TurnEnd,
    VisibleText,
)
from inferlet.detokenizer import Detokenizer
from pie_mlx.calls import Formats

_CHANNEL = re.compile(r"<\|channel\|>\s*(\w+)")
_RECIPIENT = re.compile(r"to=functions\.\S")
_ENDS = ("<|end|>", "<|start|>", "<|channel|>")

_BOUNDS = ("<|end|>", "<|start|>")

_Kind = Literal["header", "text", "reasoning", "call"]


class HarmonyScanner:
    """A `Scanner`. The channel `analysis` is reasoning, a message to a function is a call, everything else is text."""

    def __init__(self, formats: Formats, tokens: Mapping[int, bytes], parse: Parse) -> None:
        self._tokens = tokens
        self._detokenizer = Detokenizer(tokens)
        self._stops = frozenset(formats.stop_tokens)
        self._controls = frozenset(formats.control_tokens)
        self._parse = parse
        self._restart()

    def feed(self, token: int) -> Iterator[Item]:
        if token in self._stops:
            yield from self.finish()
        elif token in self._tokens and token not in self._controls:
            yield from self._append(self._detokenizer.feed((token,)))
        else:
            yield from self._append(self._detokenizer.finish())
            yield from self._mark(token, self._detokenizer.spell(token))

    def finish(self) -> Iterator[Item]:
        yield from self._append(self._detokenizer.end_reply())
        if self._kind == "header" and "<|" not in self._header:
            yield from self._visible(self._header)
        yield from self._close()
        yield TurnEnd()
        self._restart()

    def _restart(self) -> None:
        self._kind: _Kind = "header"
        self._header = ""
        self._body: list[str] = []

    def _visible(self, text: str) -> Iterator[Item]:
        if text:
            yield VisibleText(text)

    def _append(self, text: str) -> Iterator[Item]:
        match self._kind:
            case "header":
                self._header += text
            case "call":
                self._body.append(text)
            case "reasoning":
                if text:
                    yield ReasoningText(text)
            case "text":
                yield from self._visible(text)

    def _mark(self, token: int, text: str) -> Iterator[Item]:
        if self._kind != "header" and text in _ENDS:
            yield from self._close()
            self._kind, self._header = "header", text
        elif self._kind == "header" and text == "<|message|>":
            yield from self._open()
        elif self._kind == "header":
            if text in _BOUNDS and "<|" not in self._header:  # a message without a header
                yield from self._visible(self._header)
                self._header = ""
            self._header += text
        else:
            yield Control(token)

    def _open(self) -> Iterator[Item]:
        channel = _CHANNEL.search(self._header)
        if _RECIPIENT.search(self._header):
            self._kind, self._body = "call", []
            yield CallStart()
        elif channel and channel[1] == "analysis":
            self._kind = "reasoning"
            yield ReasoningStart()
        else:
            self._kind = "text"

    def _close(self) -> Iterator[Item]:
        if self._kind == "reasoning":
            yield ReasoningEnd()
        if self._kind == "call":
            body = "".join(self._body)
            calls = self._parse(f"{self._header}<|message|>{body}")
            yield from (CallEnd(calls),) if calls else self._visible(body)
