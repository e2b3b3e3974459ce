"""States of recurrent layers at the ends of committed pages: where a context that attaches these pages goes on."""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

State = TypeVar("State")


@dataclass(frozen=True, slots=True)
class _Kept(Generic[State]):
    state: State
    size_bytes: int


class Checkpoints(Generic[State]):
    """States by the key of the page that they end, which names all tokens before. The least recently used go first.

    A state without its page is of no use, but right again if the page is computed again: keys tell the content.
    """

    def __init__(self, limit_bytes: int) -> None:
        self._limit_bytes = limit_bytes
        self._kept: OrderedDict[bytes, _Kept[State]] = OrderedDict()
        self.size_bytes = 0

    def __len__(self) -> int:
        return len(self._kept)

    def __contains__(self, key: bytes) -> bool:
        return key in self._kept

    def put(self, key: bytes, state: State, size_bytes: int) -> None:
        """Keep the state behind the page of `key`, unless it alone exceeds the limit."""
        self.drop(key)
        if size_bytes > self._limit_bytes:
            return
        while self._kept and self.size_bytes + size_bytes > self._limit_bytes:
            self.drop(next(iter(self._kept)))
        self._kept[key] = _Kept(state, size_bytes)
        self.size_bytes += size_bytes

    def get(self, key: bytes) -> State:
        """The state behind the page of `key`, which counts as used. Raises KeyError."""
        self._kept.move_to_end(key)
        return self._kept[key].state

    def deepest(self, keys: Sequence[bytes]) -> int:
        """How many of the pages `keys`, in order, lead to the last one with a state; 0 where none has one."""
        return next((count for count in range(len(keys), 0, -1) if keys[count - 1] in self._kept), 0)

    def drop(self, key: bytes) -> None:
        """Forget one, if there is one."""
        kept = self._kept.pop(key, None)
        self.size_bytes -= 0 if kept is None else kept.size_bytes

    def clear(self) -> None:
        """Forget all."""
        self._kept.clear()
        self.size_bytes = 0
