"""The contract of the monitor's sources."""

from collections.abc import Iterable
from typing import Literal, Protocol

import msgspec

from pie_mlx.tui.model import MonitorState, Record
from pie_mlx.tui.model.facts import Facts
from pie_mlx.tui.source.playback import Playback

LinkState = Literal["connecting", "live", "reconnecting", "replay", "demo"]


class Link(msgspec.Struct, frozen=True):
    """The state of the source; `text` is one line for people, `hint` what to do."""

    state: LinkState
    text: str = ""
    hint: str = ""


class Feed(Protocol):
    """Receives the records of a source. Every method is cheap, may be called often, and belongs to the loop."""

    def extend(self, records: Iterable[Record]) -> None:
        """Records in order, after all earlier ones."""
        ...

    def reset(self, state: MonitorState) -> None:
        """Forget everything before: this state holds from now on."""
        ...

    def advance(self, seconds: float) -> None:
        """Time has passed, to the stream's `seconds`, with or without events."""
        ...

    def missed(self, *, lost: int = 0, unknown: int = 0) -> None:
        """Dropped events, and events of kinds that this version does not know."""
        ...

    def link(self, link: Link) -> None:
        """The state of the connection changed."""
        ...

    def facts(self, facts: Facts) -> None:
        """Fresh facts that no event contains."""
        ...


class Source(Protocol):
    """`label` names it on the screen; `playback` exists if time can be controlled."""

    @property
    def label(self) -> str: ...

    @property
    def playback(self) -> Playback | None: ...

    async def run(self, feed: Feed) -> None:
        """Feed until cancelled. A source that ends or fails reports it through `link` and waits; it raises nothing."""
        ...
