"""Compiled grammars, kept while there is room for them."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import Generic, TypeVar

V = TypeVar("V")


class CompileCache(Generic[V]):
    """Values by key, the least recently used dropped first. `capacity` and `cost` are in the same unit.

    Safe to use from any thread; equal requests at the same time share one making. A making that fails is not kept.
    """

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._entries: OrderedDict[Hashable, tuple[Future[V], int]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable, cost: int, make: Callable[[], V]) -> V:
        """The value of `key`, made now if it is not there. Raises what `make` raises."""
        with self._lock:
            entry = self._entries.get(key)
            future = entry[0] if entry else Future[V]()
            self._entries[key] = (future, cost)
            self._entries.move_to_end(key)
            self._shrink()
        if entry is None:
            self._make(key, future, make)
        return future.result()

    def peek(self, key: Hashable) -> V | None:
        """The value of `key` if it is there and made; None otherwise."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is not None:
                self._entries.move_to_end(key)
        if entry is None or not entry[0].done() or entry[0].exception() is not None:
            return None
        return entry[0].result()

    def _make(self, key: Hashable, future: Future[V], make: Callable[[], V]) -> None:
        try:
            future.set_result(make())
        except BaseException as error:
            with self._lock:
                self._entries.pop(key, None)
            future.set_exception(error)

    def _shrink(self) -> None:
        while len(self._entries) > 1 and sum(cost for _, cost in self._entries.values()) > self._capacity:
            self._entries.popitem(last=False)
