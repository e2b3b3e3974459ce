"""Responses that later requests go on from. They are in memory only, and of one user: all requests to /v1 are."""

import time
from dataclasses import dataclass

import msgspec

KEPT_SECONDS = 24 * 3600.0
MOST_RESPONSES, MOST_BYTES = 1024, 64 << 20
"""What is kept at most. A conversation counts again with each of its responses."""

_encode, _decode = msgspec.json.Encoder().encode, msgspec.json.decode


@dataclass(frozen=True)
class StoredResponse:
    """The JSON of a response, and of the items that a request goes on from: its conversation, itself included."""

    response: bytes
    conversation: bytes
    item_ids: tuple[str, ...]
    kept_seconds: float

    @property
    def size_bytes(self) -> int:
        return len(self.response) + len(self.conversation)


class ResponseStore:
    """The newest responses; the oldest one makes room. `now` is a clock in seconds."""

    def __init__(self, now=time.monotonic):
        self._now = now
        self._stored: dict[str, StoredResponse] = {}
        self._owners: dict[str, str] = {}
        self.size_bytes = 0

    def keep(self, response, items):
        """Keep a response with the items of its input."""
        ids = tuple(item["id"] for item in response["output"])
        conversation = _encode([*items, *response["output"]])
        stored = StoredResponse(_encode(response), conversation, ids, self._now())
        self._stored[response["id"]] = stored
        self._owners |= dict.fromkeys(ids, response["id"])
        self.size_bytes += stored.size_bytes
        self._make_room()

    def find(self, name) -> StoredResponse | None:
        """A response that is kept."""
        self._make_room()
        return self._stored.get(name)

    def find_item(self, name):
        """An item of the output of a response that is kept, as it was sent."""
        owner = self.find(self._owners.get(name, ""))
        output = _decode(owner.response)["output"] if owner else []
        return next((item for item in output if item["id"] == name), None)

    def delete(self, name) -> bool:
        """Forget a response; returns whether it was kept."""
        stored = self._stored.pop(name, None)
        if stored is None:
            return False
        self.size_bytes -= stored.size_bytes
        for item in stored.item_ids:
            del self._owners[item]
        return True

    def _make_room(self):
        while self._stored and self._is_full(next(iter(self._stored.values()))):
            self.delete(next(iter(self._stored)))

    def _is_full(self, oldest):
        is_old = self._now() - oldest.kept_seconds > KEPT_SECONDS
        return is_old or len(self._stored) > MOST_RESPONSES or self.size_bytes > MOST_BYTES
