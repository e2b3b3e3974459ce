"""A recording as people read it: who said what, which tools were called, what was sent and returned."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from pie_mlx import calls
from pie_mlx.calls import Call
from pie_mlx.runtime.recording.entries import AnyEntry, Called, Ended, Launched, Refused, Replied
from pie_mlx.runtime.worker.frames.messages import reply_decoder

_SPOKEN = ("system", "user", "assistant", "tool_result")


def transcript(entries: Iterable[AnyEntry]) -> list[str]:
    """Lines such as `user: Hello`, in the order in which they happened. Lines of children begin with their number."""
    written = _Transcript()
    for entry in entries:
        written.add(entry)
    return [f"{line.speaker}: {written.text(line)}" for line in written.lines]


@dataclass(slots=True)
class _Line:
    speaker: str
    text: str = ""
    tokens: list[int] = field(default_factory=list[int])


class _Transcript:
    def __init__(self) -> None:
        self.lines: list[_Line] = []
        self._vocabulary: dict[int, bytes] = {}
        self._calls: dict[tuple[int, int], Call[Any]] = {}
        self._stops: set[int] = set()
        self._answering: dict[tuple[int, int], _Line] = {}
        """The last answer in each context."""
        self._prefetched: dict[tuple[int, int], list[int]] = {}

    def text(self, line: _Line) -> str:
        if line.tokens:
            drawn = b"".join(self._vocabulary.get(token, b"") for token in line.tokens if token not in self._stops)
            return drawn.decode(errors="replace") if self._vocabulary else f"({len(line.tokens)} tokens)"
        return line.text

    def add(self, entry: AnyEntry) -> None:
        match entry:
            case Launched(process=process, identity=identity) if process:
                self._say(process, "launched", identity)
            case Called(process=process, message=message):
                self._calls[process, entry.number] = message
                if isinstance(message, calls.ReleaseContext):
                    self._claim((process, message.context), message.claimed)
            case Replied():
                message = self._calls.pop((entry.process, entry.number), None)
                if message is not None:
                    self._answered(entry.process, message, reply_decoder(type(message)).decode(entry.reply))
            case Refused():
                message = self._calls.pop((entry.process, entry.number), None)
                if isinstance(message, calls.CallMcp):
                    self._say(entry.process, "tool", f"{_tool(message)} failed: {entry.error.message}")
            case Ended():
                failed = entry.error
                self._say(entry.process, "failed" if failed else "returned", failed.message if failed else entry.value)
            case _:
                pass

    def _answered(self, process: int, message: Call[Any], reply: Any) -> None:
        match message:
            case calls.LoadModel():
                self._stops.update(reply.formats.stop_tokens)
            case calls.ReadVocabulary():
                self._vocabulary.update(zip(reply.token_ids, reply.tokens, strict=True))
            case calls.RenderTurn(turn=turn) if turn.role in _SPOKEN:
                self._say(process, turn.role.replace("_", " "), turn.text)
            case calls.Forward():
                self._drew(process, message, reply)
            case calls.CallMcp():
                self._say(process, "tool", f"{_tool(message)} -> {reply}")
            case calls.SendMessage(text=text):
                self._say(process, "sent", text)
            case calls.SendFile(name=name, data=data):
                self._say(process, "sent", f"file {name} ({len(data)} bytes)")
            case calls.ReceiveMessage() if reply is not None:
                self._say(process, "received", reply)
            case _:
                pass

    def _drew(self, process: int, message: calls.Forward, reply: calls.ForwardReply) -> None:
        """An answer goes on while a context computes nothing but what was drawn for it."""
        context = process, message.context
        self._claim(context, message.continuation.claimed if message.continuation is not None else 0)
        self._prefetched[context] = reply.prefetched
        drawn = [token for one in reply.results if isinstance(one, calls.SampledTokens) for token in one.tokens]
        if not drawn:
            return
        given = [*message.pending, *message.tokens]
        line = self._answering.get(context)
        if line is None or line.tokens[-len(given) :] != given:
            line = self._answering[context] = self._say(process, "answer", "")
        line.tokens += drawn

    def _claim(self, context: tuple[int, int], count: int) -> None:
        """The program has used so many of the tokens that came before it asked for them."""
        if count and (line := self._answering.get(context)) is not None:
            line.tokens += self._prefetched.pop(context, [])[:count]

    def _say(self, process: int, speaker: str, text: str) -> _Line:
        self.lines.append(_Line(f"{process} {speaker}" if process else speaker, text))
        return self.lines[-1]


def _tool(message: calls.CallMcp) -> str:
    return f"{message.server} {message.method} {message.params}"
