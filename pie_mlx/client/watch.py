"""The events of an engine, as a client watches them."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Any

from pie_mlx.client import frames
from pie_mlx.errors import PieError

WatchQueue = asyncio.Queue[frames.EngineEvent | PieError]
"""Events of a watch, or the reason for its end."""


@dataclass(frozen=True, slots=True)
class Watch:
    """A snapshot of the engine, and the events since.

    `events` raises SessionClosedError at the end of the connection, and when the same client starts another watch.
    Close them with `aclose` to stop watching.
    """

    snapshot: dict[str, Any]
    events: AsyncGenerator[frames.EngineEvent, None]
