"""Images: what an off-pool context or a snapshot keeps, enough to restore all of it."""

from collections.abc import Iterable
from dataclasses import dataclass

from pie_mlx.engine.kv.pages.pool import PagePool
from pie_mlx.engine.kv.pages.record import KeptState, PageRecord, Segment, WorkingToken, pack
from pie_mlx.engine.kv.pages.values import PageContent, SpillKey


@dataclass(slots=True, eq=False)
class Tail:
    """Working tokens of an image, shared by all images taken at the same moment.

    One record per page that holds tokens. `segment` holds those pages while they are in the pool.
    """

    tokens: list[WorkingToken]
    records: list[PageRecord]
    segment: Segment | None = None
    images: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Image:
    """Committed pages in order, the working tail, the figures of the source context, and the states of its recurrent
    layers that are kept. `state_pages` are those that its own state cost."""

    records: list[PageRecord]
    tail: Tail
    highest_position: int
    inherited_tokens: int
    working_pages: int
    state_pages: int = 0
    states: tuple[KeptState, ...] = ()

    def all_records(self) -> Iterable[PageRecord]:
        """Every page that holds tokens, in slot order."""
        yield from self.records
        yield from self.tail.records


class ImageKeeper:
    """Counts the images that need each page, and collects spilled pages that no image needs any more."""

    def __init__(self, pool: PagePool) -> None:
        self._pool = pool
        self._released: list[SpillKey] = []

    def retain(self, image: Image) -> None:
        """Adds a holder of `image`."""
        image.tail.images += 1
        for record in image.all_records():
            record.wanted += 1
        for kept in image.states:
            self._pool.kept_states.retain(kept, wanted=True)

    def release(self, image: Image) -> None:
        """Removes a holder of `image`, and frees what no holder needs."""
        tail = image.tail
        tail.images -= 1
        for record in image.all_records():
            record.wanted -= 1
            if not record.wanted and record.spill is not None:
                self._released.append(record.spill)
                record.spill = None
            if not record.wanted and record.page is None:
                self._pool.kept_states.detach(record)
        for kept in image.states:
            self._pool.kept_states.release(kept, wanted=True)
        if not tail.images and tail.segment is not None:
            self._pool.free(self._pool.strip(tail.segment))
            tail.segment = None

    def mark_spilled(self, content: PageContent, key: SpillKey) -> None:
        """`content` was written to the spill file as `key`."""
        record = content.record
        if record.wanted and record.spill is None:
            record.spill = key
        else:
            self._released.append(key)

    def pop_released(self) -> tuple[SpillKey, ...]:
        """Returns the keys of spilled pages that no image needs any more, each once. Call it after the reads of a
        restore are done."""
        released, self._released = tuple(self._released), []
        return released


def cut_tail(tokens: list[WorkingToken], pages: list[int], page_size: int) -> list[PageRecord]:
    """Records of the working pages that hold `tokens`. If `pages` are too few, the last records have no content."""
    parts = [tokens[start : start + page_size] for start in range(0, len(tokens), page_size)]
    padded = [*pages, *[None] * (len(parts) - len(pages))]
    return [PageRecord(b"", pack(part), len(part), page) for part, page in zip(parts, padded, strict=False)]
