"""Contexts: numbers are unique within an engine. `reason` is a `ReasonKind`, `text` the same for people."""

import msgspec

from pie_mlx.events.base import Event
from pie_mlx.plural import plural


class PageUsage(msgspec.Struct, frozen=True):
    """Pages of the pool: `used` are held (`shared` by more than one holder), `cached` are kept but free to take,
    `withheld` are not used while the system is short of memory."""

    total: int
    used: int
    shared: int
    cached: int
    withheld: int = 0

    def __add__(self, other: "PageUsage") -> "PageUsage":
        """The usage of two pools together."""
        return PageUsage(
            self.total + other.total,
            self.used + other.used,
            self.shared + other.shared,
            self.cached + other.cached,
            self.withheld + other.withheld,
        )

    @property
    def free(self) -> int:
        """Pages without content worth keeping."""
        return self.total - self.used - self.cached - self.withheld


class ContextPages(msgspec.Struct, frozen=True):
    """Pages of a context in the pool: `own` are held by no other context, `shared` by others too. `effective` counts a
    shared page in equal parts for each of its contexts, as the market does."""

    context: int
    own: int
    shared: int
    effective: float


class ProcessPages(msgspec.Struct, frozen=True):
    """Pages of a process in the pool, each counted once: `own` are held by no other process, `shared` by others too."""

    process: str
    own: int
    shared: int


class PagesCounted(Event, frozen=True):
    """Where the pages of the pool are, and those of the processes and contexts whose figures changed.

    It follows changes within a tenth of a second. One that was released is not listed any more.
    """

    pages: PageUsage
    processes: tuple[ProcessPages, ...] = ()
    contexts: tuple[ContextPages, ...] = ()
    model: str = ""


class ContextCreated(Event, frozen=True):
    """An empty context of `account`, or one opened from a snapshot that brought `shared_pages`."""

    process: str
    context: int
    shared_pages: int = 0
    account: int = 0
    at_seconds: float = 0.0
    model: str = ""


class ContextForked(Event, frozen=True):
    """A copy of `source` that shares its committed pages."""

    process: str
    context: int
    source: int
    shared_pages: int
    account: int = 0
    at_seconds: float = 0.0
    model: str = ""


class ContextReleased(Event, frozen=True):
    """A context gave back its pages."""

    process: str
    context: int
    at_seconds: float = 0.0


class ContextSuspended(Event, frozen=True):
    """A context was suspended to make room for `for_context`, which is itself if it gave way or asked for it."""

    context: int
    for_context: int
    reason: str
    text: str
    at_seconds: float = 0.0


class ContextRestoring(Event, frozen=True):
    """A suspended context has its pages again; `read_pages` are on their way, `replayed_tokens` computed again."""

    context: int
    read_pages: int = 0
    replayed_tokens: int = 0
    at_seconds: float = 0.0

    @property
    def text(self) -> str:
        """What is done, for people."""
        read = plural(self.read_pages, "page is", "pages are") + " read"
        again = plural(self.replayed_tokens, "token is", "tokens are") + " computed again"
        return ", ".join([read] * bool(self.read_pages) + [again] * bool(self.replayed_tokens))


class ContextRestored(Event, frozen=True):
    """A context is in the pool again: pages found there, read from the disk, and tokens computed again."""

    context: int
    attached_pages: int = 0
    copied_pages: int = 0
    read_pages: int = 0
    replayed_tokens: int = 0
    at_seconds: float = 0.0


class SnapshotStored(Event, frozen=True):
    """A snapshot was saved to outlive the engine: of its `pages`, so many are in the disk cache. The others are
    computed when an engine that is started later opens it."""

    process: str
    context: int
    name: str
    pages: int
    stored_pages: int


class WaitChanged(Event, frozen=True):
    """The reason why a context waits has changed; it is empty when the context no longer waits."""

    context: int
    reason: str = ""
    text: str = ""
    at_seconds: float = 0.0
