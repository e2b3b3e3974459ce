"""The text of control tokens inside what a template writes itself: calls, their names, and tools. It stays text."""

import json
import re
from collections.abc import Collection, Iterator, Sequence

import msgspec
from msgspec.structs import replace

from pie_mlx.calls import ParsedToolCall, Turn
from pie_mlx.engine.text.conversation.writing import Piece

_MARK = re.compile(r"zq9C(\d+)w")


class ControlTexts:
    """Replaces each of `texts` by a mark before a template is rendered, and puts it back as content. Other contents
    need none: their place in the rendering is known."""

    def __init__(self, texts: Collection[str]) -> None:
        self._texts = sorted(texts, key=len, reverse=True)

    def hidden(self, turn: Turn) -> Turn:
        """The turn, with marks."""
        if turn.schemas:
            return replace(turn, schemas=[self._in_json(schema) for schema in turn.schemas])
        if turn.calls:
            calls = [ParsedToolCall(self._in_text(call.name), self._in_json(call.arguments)) for call in turn.calls]
            return replace(turn, text=self._in_text(turn.text), calls=calls)
        return replace(turn, name=self._in_text(turn.name)) if turn.name else turn

    def shown(self, pieces: Sequence[Piece]) -> list[Piece]:
        """The pieces of a hidden turn without marks."""
        return [part for piece in pieces for part in self._parts(piece)]

    def _parts(self, piece: Piece) -> Iterator[Piece]:
        if piece.is_content or not _MARK.search(piece.text):
            yield piece
            return
        for place, part in enumerate(_MARK.split(piece.text)):
            if place % 2 and int(part) < len(self._texts):
                yield Piece(self._texts[int(part)], is_content=True)
            elif part:
                yield Piece(part)

    def _in_text(self, text: str) -> str:
        for place, control in enumerate(self._texts):
            if control in text:
                text = text.replace(control, f"zq9C{place}w")
        return text

    def _in_json(self, text: str) -> str:
        """JSON text with marks, also for what it spells with escapes. What is not JSON is refused when it is read."""
        if "\\u" in text:
            try:
                text = msgspec.json.encode(msgspec.json.decode(text)).decode()
            except (msgspec.MsgspecError, RecursionError):
                return text
        for place, control in enumerate(self._texts):
            if (spelled := json.dumps(control, ensure_ascii=False)[1:-1]) in text:
                text = text.replace(spelled, f"zq9C{place}w")
        return text
