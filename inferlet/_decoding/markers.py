"""Find delimiters in text that arrives in pieces."""

from collections.abc import Iterable


def first_marker(text: str, markers: Iterable[str]) -> tuple[int, str] | None:
    """Position and text of the earliest marker, the longest at that position; None if there is none."""
    found = [(place, -len(marker), marker) for marker in markers if (place := text.find(marker)) >= 0]
    return (min(found)[0], min(found)[2]) if found else None


def partial_marker(text: str, markers: Iterable[str]) -> int:
    """The length of the longest suffix of `text` that could begin a marker."""
    return max((_partial(text, marker) for marker in markers), default=0)


def _partial(text: str, marker: str) -> int:
    start = text.find(marker[:1], max(len(text) - len(marker) + 1, 0)) if marker else -1
    while start >= 0 and not marker.startswith(text[start:]):
        start = text.find(marker[0], start + 1)
    return len(text) - start if start >= 0 else 0


class ClosingFinder:
    """Finds the end of a block. A closing inside a JSON string does not count, where the block is JSON."""

    def __init__(self, closing: str) -> None:
        self._closing = closing
        self._place = 0
        self._is_json: bool | None = None
        self._in_string = False

    def find(self, block: str) -> int | None:
        """The position of the closing in the block so far; None while there is none. Reads each character once."""
        while self._closing:
            if self._in_string:
                if not self._leave_string(block):
                    return None
                continue
            at = block.find(self._closing, self._place)
            quote = block.find('"', self._place) if self._looks_like_json(block) else -1
            if quote >= 0 and (at < 0 or quote < at):
                self._place, self._in_string = quote + 1, True
                continue
            if at < 0:
                self._place = max(self._place, len(block) - len(self._closing) + 1)
                return None
            return at
        return None

    def _looks_like_json(self, block: str) -> bool:
        if self._is_json is None:
            start = block.lstrip()[:1]
            if not start:
                return False
            self._is_json = start in "{["
        return self._is_json

    def _leave_string(self, block: str) -> bool:
        while self._place < len(block):
            character = block[self._place]
            if character == "\\":
                if self._place + 1 == len(block):
                    return False
                self._place += 2
                continue
            self._place += 1
            if character == '"':
                self._in_string = False
                return True
        return False
