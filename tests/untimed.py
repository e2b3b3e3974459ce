"""Events without the moments at which they happened, to be compared."""

from collections.abc import Sequence
from typing import overload

import msgspec

from pie_mlx.events import Event


@overload
def untimed(events: Event) -> Event: ...
@overload
def untimed(events: Sequence[Event]) -> list[Event]: ...
def untimed(events: Event | Sequence[Event]) -> Event | list[Event]:
    """An event, or each of several, with 0 as its moment."""
    if not isinstance(events, Event):
        return [untimed(event) for event in events]
    return msgspec.structs.replace(events, at_seconds=0.0) if hasattr(events, "at_seconds") else events
