"""Adapters: numbers are unique within an engine."""

from pie_mlx.events.base import Event


class AdapterChanged(Event, frozen=True):
    """An adapter of a user has new weights, which take `size_bytes` of memory."""

    adapter: int
    username: str
    name: str
    version: int
    size_bytes: int


class AdapterDestroyed(Event, frozen=True):
    """An adapter is gone."""

    adapter: int
    username: str
    name: str
