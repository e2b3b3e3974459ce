"""Contexts: numbers are unique within an engine. `reason` is a `ReasonKind`, `text` the same for people."""

import msgspec

from pie_mlx.events.base import Event


class PageUsage(msgspec.Struct, frozen=True):
    """Pages of the pool: `used` are held (`shared` by more than one holder), `cached` are kept but free to take,
    `withheld` are not used while the system is short of memory."""

    total: int
    used: int
    shared: int
    cached: int
    withheld: int = 0

    @property
    def free(self) -> int:
        """Pages without content worth keeping."""
        return self.total - self.used - self.cached - self.withheld


class ContextCreated(Event, frozen=True):
    """An empty context of `account`, or one opened from a snapshot that brought `shared_pages`."""

    process: str
    context: int
    shared_pages: int = 0
    account: int = 0


class ContextForked(Event, frozen=True):
    """A copy of `source` that shares its committed pages."""

    process: str
    context: int
    source: int
    shared_pages: int
    account: int = 0
    at_seconds: float = 0.0


class ContextReleased(Event, frozen=True):
    """A context gave back its pages; `pages` are those after it, None in logs of older engines."""

    process: str
    context: int
    at_seconds: float = 0.0
    pages: PageUsage | None = None


class ContextSuspended(Event, frozen=True):
    """A context was suspended to make room for `for_context`, which is itself if it gave way or asked for it.

    `pages` are those after it, if no tick follows that reports them.
    """

    context: int
    for_context: int
    reason: str
    text: str
    pages: PageUsage | None = None


class ContextRestored(Event, frozen=True):
    """A context is in the pool again: pages found there, read from the spill file, and tokens computed again."""

    context: int
    attached_pages: int = 0
    copied_pages: int = 0
    read_pages: int = 0
    replayed_tokens: int = 0


class WaitChanged(Event, frozen=True):
    """The reason why a context waits has changed; it is empty when the context no longer waits."""

    context: int
    reason: str = ""
    text: str = ""
