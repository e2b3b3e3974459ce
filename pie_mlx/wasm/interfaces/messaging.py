"""`pie:core/messaging`."""

import itertools
from collections.abc import Coroutine
from functools import partial
from typing import Any

from inferlet import messaging as sdk
from inferlet._calls.host import HostLink, current_host
from pie_mlx import calls
from pie_mlx.wasm.interfaces.types import FutureString
from pie_mlx.wasm.offers import Interface
from pie_mlx.wasm.waiting import Arrivals
from pie_mlx.wasm.wasi.poll import Pollable

_tickets = itertools.count(1)


class Subscription:
    """The broadcasts of a topic since it was opened."""

    def __init__(self, host: HostLink, topic: str) -> None:
        self._host = host
        self._number = host.call(calls.Subscribe(topic))
        self._arrivals: Arrivals[str] = Arrivals(
            partial(host.submit, calls.AwaitBroadcast(self._number)),
            partial(host.call, calls.ReadSubscription(self._number)),
        )

    def pollable(self) -> Pollable:
        return Pollable(self._arrivals.pending)

    def get(self) -> str | None:
        return self._arrivals.take()

    def unsubscribe(self) -> None:
        self._host.call(calls.Unsubscribe(self._number))

    def __del__(self) -> None:
        # Nothing may escape a finalizer: the engine may be gone, the object half built, the interpreter ending.
        try:
            self._host.drop(calls.Unsubscribe(self._number))
        except Exception:
            return


class _Turn:
    """A place in the line for a topic's queue. Given up, its message goes to the next in line."""

    def __init__(self, host: HostLink, topic: str) -> None:
        self._host, self._topic, self._ticket = host, topic, 0

    def arrive(self) -> Coroutine[Any, Any, None]:
        self._ticket = next(_tickets)
        return self._host.submit(calls.AwaitMessage(self._topic, self._ticket))

    def take(self) -> str | None:
        return self._host.call(calls.TakeMessage(self._topic, self._ticket))

    def __del__(self) -> None:
        # Nothing may escape a finalizer: the engine may be gone, the object half built, the interpreter ending.
        try:
            if self._ticket:
                self._host.drop(calls.LeaveTopic(self._topic, self._ticket))
        except Exception:
            return


def push(topic: str, message: str) -> None:
    sdk.push(topic, message)


def pull(topic: str) -> FutureString:
    turn = _Turn(current_host(), topic)
    return FutureString(Arrivals(turn.arrive, turn.take))


def broadcast(topic: str, message: str) -> None:
    sdk.broadcast(topic, message)


def subscribe(topic: str) -> Subscription:
    return Subscription(current_host(), topic)


INTERFACES = (Interface("pie:core/messaging", (push, pull, broadcast, subscribe), (Subscription,)),)
