"""Where the monitor's events come from."""

from collections.abc import Iterable
from typing import Literal, Protocol

import msgspec

from pie_mlx.tui.model import MonitorState, Record
from pie_mlx.tui.model.facts import Facts
from pie_mlx.tui.source.playback import Playback

LinkState = Literal["connecting", "live", "reconnecting", "replay", "demo"]


class Link(msgspec.Struct, frozen=True):
    """How the source fares; `text` is one line for people, about trouble or the lack of it, `hint` what to do."""

    state: LinkState
    text: str = ""
    hint: str = ""


class Feed(Protocol):
    """Takes what a source brings. Every method is cheap, may be called often, and belongs to the loop."""

    def extend(self, records: Iterable[Record]) -> None:
        """Records in order, after all before them."""
        ...

    def reset(self, state: MonitorState) -> None:
        """Forget what came before: from here on this state holds."""
        ...

    def advance(self, seconds: float) -> None:
        """Time went by, to the stream's `seconds`, whether or not something happened."""
        ...

    def missed(self, *, lost: int = 0, unknown: int = 0) -> None:
        """Events that were dropped on the way, and events of kinds this version does not know."""
        ...

    def link(self, link: Link) -> None:
        """The connection changed."""
        ...

    def facts(self, facts: Facts) -> None:
        """What no event tells, asked anew."""
        ...


class Source(Protocol):
    """`label` names it on the screen; `playback` is there where time can be steered."""

    @property
    def label(self) -> str: ...

    @property
    def playback(self) -> Playback | None: ...

    async def run(self, feed: Feed) -> None:
        """Feed until cancelled. A source that can end or fail says so by `link` and waits; it raises nothing."""
        ...
