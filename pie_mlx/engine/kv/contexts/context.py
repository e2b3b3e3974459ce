"""A context's books."""

from dataclasses import dataclass, field
from itertools import chain

from pie_mlx.calls import PageCounters
from pie_mlx.engine.kv.pages.image import Image
from pie_mlx.engine.kv.pages.segment import Segment
from pie_mlx.engine.kv.pages.trie import chain_of
from pie_mlx.engine.kv.pages.values import Transcript, WorkingToken

NO_POSITION = -1
"""The highest committed position of a context that never committed."""


@dataclass(slots=True, eq=False)
class Context:
    """One sequence of KV slots.

    `block_table` has the committed pages (the first `committed`), then the working pages. `inherited_tokens` is how
    many of the leading working tokens another context computed. `image` is set while the context is off-pool, and
    while it is being restored: then the pages after `committed` are private and wait to be filled.
    """

    number: int
    leaf: Segment
    committed: int = 0
    block_table: list[int] = field(default_factory=list[int])
    working: list[WorkingToken] = field(default_factory=list[WorkingToken])
    highest_position: int = NO_POSITION
    inherited_tokens: int = 0
    image: Image | None = None
    restoring: bool = False

    @property
    def resident(self) -> bool:
        """Whether the context holds its pages."""
        return self.image is None or self.restoring

    @property
    def usable(self) -> bool:
        """Whether passes and page operations are allowed: in the pool and not being restored."""
        return self.image is None

    @property
    def pages(self) -> int:
        """Committed and working pages, wherever the content is."""
        image = self.image
        return len(self.block_table) if image is None else len(image.records) + image.working_pages

    @property
    def working_pages(self) -> int:
        return len(self.block_table) - self.committed

    @property
    def last_page(self) -> int | None:
        """The page whose neighbour the next one had best be."""
        return self.block_table[-1] if self.block_table else None

    def counters(self) -> PageCounters:
        """What the program sees; off-pool it sees what it left."""
        image = self.image
        if image is None:
            return PageCounters(self.committed, len(self.block_table) - self.committed, len(self.working))
        return PageCounters(len(image.records), image.working_pages, len(image.tail.tokens))

    def transcript(self) -> Transcript:
        """All its tokens, wherever its content is."""
        image = self.image
        records, working = (chain_of(self.leaf), self.working) if image is None else (image.records, image.tail.tokens)
        committed = list(chain.from_iterable(record.tokens for record in records))
        return Transcript([*committed, *working], len(committed))
