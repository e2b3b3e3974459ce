"""Names of programs, users and models are untrusted: a recording may contain anything."""

from functools import cache

import msgspec

from pie_mlx.events import Event
from pie_mlx.tui.model.text import one_line

_TEXTS = frozenset({"input", "message", "text", "value"})
"""Fields with text of several lines, which is cleaned where it is shown."""


def with_safe_names(event: Event) -> Event:
    """The event with each name on one line and without control and direction characters."""
    names = {field: getattr(event, field) for field in _names_of(type(event))}
    safe = {field: one_line(name) for field, name in names.items()}
    return event if safe == names else msgspec.structs.replace(event, **safe)


@cache
def _names_of(kind: type[Event]) -> tuple[str, ...]:
    return tuple(field.name for field in msgspec.structs.fields(kind) if field.type is str and field.name not in _TEXTS)
