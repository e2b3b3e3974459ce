"""Scanner of replies with reasoning and tool calls between delimiters."""

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
from inferlet._decoding.markers import ClosingFinder, first_marker, partial_marker
from inferlet.detokenizer import Detokenizer
from pie_mlx.calls import Formats, ToolFormat

_Place = Literal["beginning", "text", "reasoning", "call", "bare"]


class DelimiterScanner:
    """A `Scanner`. It finds delimiters in the text, so one may be a token, several tokens, or part of one."""

    def __init__(self, formats: Formats, tokens: Mapping[int, bytes], parse: Parse) -> None:
        self._tokens = tokens
        self._detokenizer = Detokenizer(tokens)
        self._stops = frozenset(formats.stop_tokens)
        self._controls = frozenset(formats.control_tokens)
        self._reasoning = formats.reasoning
        self._tools = formats.tools or ToolFormat("none")
        self._openings = [*self._tools.openings, *([self._reasoning.opening] if self._reasoning else [])]
        self._suspicious = {
            "text": frozenset(opening[0] for opening in self._openings if opening),
            "reasoning": frozenset(self._reasoning.closing[:1] if self._reasoning else ""),
        }
        self._strips_first_space = formats.strips_first_space
        self._parse = parse
        self._restart()

    def feed(self, token: int) -> Iterator[Item]:
        if token in self._stops:
            yield from self.finish()
            return
        if not self._begun:
            yield from self._begin()
        self._append(token)
        if self._is_plain():
            yield (ReasoningText if self._place == "reasoning" else VisibleText)(self._buffer)
            self._buffer = ""
        else:
            yield from self._advance()

    def finish(self) -> Iterator[Item]:
        self._buffer += self._detokenizer.end_reply()
        yield from self._advance()
        if self._place in ("call", "bare"):
            yield from self._close_at_end()
        else:
            yield from self._emit(len(self._buffer))
        if self._place == "reasoning":
            yield ReasoningEnd()
        yield TurnEnd()
        self._restart()

    def _restart(self) -> None:
        self._begun = False
        self._is_blank = False  # in reasoning that the cue has opened, still without text
        self._place: _Place = "beginning"
        self._buffer = ""
        self._marked: list[tuple[int, int, int]] = []  # control tokens in the buffer: start, end, token
        self._opening = ""
        self._closing = ClosingFinder("")

    def _begin(self) -> Iterator[Item]:
        self._begun = True
        if self._reasoning and self._reasoning.opened_by_cue:
            self._place = "reasoning"
            self._is_blank = bool(self._tools.openings)
            yield ReasoningStart()

    def _append(self, token: int) -> None:
        if token in self._tokens and token not in self._controls:
            text = self._detokenizer.feed((token,))
            if self._strips_first_space and self._place == "beginning" and not self._buffer:
                text = text.removeprefix(" ")
            self._buffer += text
            return
        self._buffer += self._detokenizer.finish()
        start = len(self._buffer)
        self._buffer += self._detokenizer.spell(token)
        self._marked.append((start, len(self._buffer), token))

    def _is_plain(self) -> bool:
        """Whether no delimiter can begin in the buffer, which is the usual case."""
        suspicious = self._suspicious.get(self._place)
        if suspicious is None or self._marked or self._is_blank or not self._buffer:
            return False
        return suspicious.isdisjoint(self._buffer)

    def _advance(self) -> Iterator[Item]:
        place = None
        while place != self._place:
            place = self._place
            match place:
                case "beginning":
                    self._leave_beginning()
                case "text":
                    yield from self._scan_text()
                case "reasoning":
                    yield from self._scan_reasoning()
                case "call":
                    yield from self._scan_call()
                case "bare":
                    pass

    def _leave_beginning(self) -> None:
        if not self._tools.bare:
            self._place = "text"
        elif start := self._buffer.lstrip()[:1]:
            self._place = "bare" if start == self._tools.bare else "text"

    def _scan_text(self) -> Iterator[Item]:
        found = first_marker(self._buffer, self._openings)
        if found is None:
            yield from self._emit(len(self._buffer) - partial_marker(self._buffer, self._openings))
            return
        at, opening = found
        yield from self._emit(at)
        self._cut(len(opening))
        if self._reasoning and opening == self._reasoning.opening:
            self._place = "reasoning"
            yield ReasoningStart()
        else:
            self._place, self._opening, self._closing = "call", opening, ClosingFinder(self._tools.closing)
            yield CallStart()

    def _scan_reasoning(self) -> Iterator[Item]:
        if self._is_blank:
            yield from self._skip_thought()
        if not self._is_blank:
            yield from self._scan_thought()

    def _skip_thought(self) -> Iterator[Item]:
        """A reply that begins with a call has no reasoning: a grammar of calls leaves no room to close it."""
        start = self._buffer.lstrip()
        if any(start.startswith(opening) for opening in self._tools.openings):
            yield from self._emit(len(self._buffer) - len(start))
            self._place = "text"
            yield ReasoningEnd()
        elif start and not any(opening.startswith(start) for opening in self._tools.openings):
            self._is_blank = False

    def _scan_thought(self) -> Iterator[Item]:
        closing = self._reasoning.closing if self._reasoning else ""
        at = self._buffer.find(closing)
        if at < 0:
            yield from self._emit(len(self._buffer) - partial_marker(self._buffer, [closing]))
            return
        yield from self._emit(at)
        self._cut(len(closing))
        self._place = "text"
        yield ReasoningEnd()

    def _scan_call(self) -> Iterator[Item]:
        at = self._closing.find(self._buffer)
        if at is None:
            return
        end = at + len(self._tools.closing)
        yield from self._resolve(self._opening + self._buffer[:end])
        self._cut(end)
        self._place = "text"
        yield from self._scan_text()

    def _close_at_end(self) -> Iterator[Item]:
        raw = self._opening + self._buffer
        self._cut(len(self._buffer))
        if self._place == "bare":
            calls = self._parse(raw)
            yield from (CallStart(), CallEnd(calls)) if calls else (VisibleText(raw),)
        elif self._tools.closing:
            yield VisibleText(raw)
        else:
            yield from self._resolve(raw)

    def _resolve(self, raw: str) -> Iterator[Item]:
        calls = self._parse(raw)
        yield CallEnd(calls) if calls else VisibleText(raw)

    def _emit(self, end: int) -> Iterator[Item]:
        """Emit the buffer up to `end`, with its control tokens as separate items."""
        item = ReasoningText if self._place == "reasoning" else VisibleText
        start = 0
        for control_start, control_end, token in self._marked:
            if control_end > end:
                break
            if control_start > start:
                yield item(self._buffer[start:control_start])
            yield Control(token)
            start = control_end
        if end > start:
            yield item(self._buffer[start:end])
        self._cut(end)

    def _cut(self, end: int) -> None:
        self._buffer = self._buffer[end:]
        self._marked = [(start - end, stop - end, token) for start, stop, token in self._marked if start >= end]
