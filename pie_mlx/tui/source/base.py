"""The interface of the monitor's event sources."""

from collections.abc import Iterable
from typing import Literal, Protocol

import msgspec

from pie_mlx.tui.model import MonitorState, Record
from pie_mlx.tui.model.facts import Facts
from pie_mlx.tui.model.pool_books import PageBook, PoolBooks
from pie_mlx.tui.source.playback import Playback

LinkState = Literal["connecting", "live", "reconnecting", "replay", "demo"]


class Link(msgspec.Struct, frozen=True):
    """The state of the source's connection. `text` is one line about a problem, `hint` what to do about it."""

    state: LinkState
    text: str = ""
    hint: str = ""


class Feed(Protocol):
    """Receives records from a source. Every method is cheap, and is called on the loop."""

    def extend(self, records: Iterable[Record]) -> None:
        """Records in order, after all earlier ones."""
        ...

    def reset(self, state: MonitorState) -> None:
        """Replace the state and forget all earlier records."""
        ...

    def advance(self, seconds: float) -> None:
        """The stream's time is now `seconds`, even without a record."""
        ...

    def missed(self, *, lost: int = 0, unknown: int = 0) -> None:
        """Events that the connection dropped, and events of kinds this version does not know."""
        ...

    def link(self, link: Link) -> None:
        """The state of the connection changed."""
        ...

    def facts(self, facts: Facts) -> None:
        """Newly requested facts, which no event carries."""
        ...


class EventSource(Protocol):
    """`label` names it on the screen; `playback` is None where time cannot be controlled."""

    @property
    def label(self) -> str: ...

    @property
    def playback(self) -> Playback | None: ...

    async def run(self, feed: Feed) -> None:
        """Feed until cancelled. A source that ends or fails reports it by `link` and waits; it raises nothing."""
        ...

    async def watch_tokens(self, process: str) -> None:
        """Feed the tokens of one process too, or of none if it is empty. Raises PieError where that is not possible."""
        ...

    async def pool(self, model: str = "") -> PoolBooks | None:
        """Every page of the pool of a model, of the default one without a name, as the engine has it now; None if no
        engine runs. Raises PieError."""
        ...

    async def page(self, number: int, model: str = "") -> PageBook | None:
        """One page of such a pool. Raises PieError."""
        ...
