"""Pages in a file: one slot each, and a checksum in memory that a slot must match to be trusted."""

import zlib
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pie_mlx.engine.paging.page_bytes import PageLayout
from pie_mlx.engine.paging.spill.disk import Disk
from pie_mlx.metal.page_pool.pool import HostContent


class LoadedPages(NamedTuple):
    """`content` of the slots asked for, None when some of them are `damaged`."""

    content: HostContent | None
    damaged: frozenset[int]


class SpillFile:
    """Writes and reads pages by slot number. Blocks: it belongs to one thread of its own."""

    def __init__(self, disk: Disk) -> None:
        self._disk = disk
        self._layout = PageLayout(())
        self._checksums: dict[int, int] = {}

    def write(self, slots: Sequence[int], content: HostContent) -> None:
        """Store page i of `content` in `slots[i]`. Raises OSError; slots it did not reach are damaged."""
        self._layout = PageLayout.of_content(content)
        for slot in slots:
            self._checksums.pop(slot, None)
        for place, slot in enumerate(slots):
            page = self._layout.pack(content, place)
            self._disk.write_at(page, slot * len(page))
            self._checksums[slot] = zlib.crc32(page)

    def read(self, slots: Sequence[int]) -> LoadedPages:
        """The pages of `slots`, in that order. Never raises: what cannot be read or trusted is damaged."""
        pages = [self._read_page(slot) for slot in slots]
        damaged = frozenset(slot for slot, page in zip(slots, pages, strict=True) if page is None)
        if damaged:
            return LoadedPages(None, damaged)
        rows = np.frombuffer(bytearray().join(page for page in pages if page is not None), np.uint8)
        return LoadedPages(self._layout.content(rows.reshape(len(slots), self._layout.bytes)), damaged)

    def write_record(self, slots: Sequence[int], record: bytes, size: int) -> None:
        """Store the bytes of `record` in `slots` of `size` bytes. Raises OSError."""
        for place, slot in enumerate(slots):
            self._disk.write_at(record[place * size : (place + 1) * size], slot * size)

    def read_record(self, slots: Sequence[int], size: int) -> bytes:
        """What lies in `slots`; nothing where it cannot be read."""
        try:
            return b"".join(self._disk.read_at(size, slot * size) for slot in slots)
        except OSError:
            return b""

    def close(self) -> None:
        """Give the file back to the system, which then forgets it."""
        self._disk.close()

    def _read_page(self, slot: int) -> bytes | None:
        size = self._layout.bytes
        try:
            page = self._disk.read_at(size, slot * size)
        except OSError:
            return None
        return page if self._checksums.get(slot) == zlib.crc32(page) else None
