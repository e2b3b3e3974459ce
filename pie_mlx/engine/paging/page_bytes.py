"""The bytes of a page: by layer K then V, each in the order of the memory that they are copied from and to."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pie_mlx.metal.page_pool.pool import HostContent, KvPool
from pie_mlx.metal.page_pool.shapes import HOST_DTYPES
from pie_mlx.metal.page_pool.storage import HostPages

PageRows = npt.NDArray[np.uint8]
"""The bytes of some pages, one page a row."""


class _Part(NamedTuple):
    """K or V of one layer within a page: [slot, head, element or word], or `by_head` [head, slot, element or word]."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    by_head: bool = False

    @property
    def bytes(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64)) * self.dtype.itemsize

    def of_rows(self, rows: PageRows) -> HostPages:
        """These bytes of some pages as [page, slot, head, element or word]."""
        slots, heads, width = self.shape
        shape = (heads, slots, width) if self.by_head else self.shape
        array = rows.view(self.dtype).reshape(len(rows), *shape)
        return array.swapaxes(1, 2) if self.by_head else array


class PageLayout:
    """Where K and V of each layer lie in the `bytes` of a page."""

    def __init__(self, parts: Sequence[_Part]) -> None:
        self._parts = tuple(parts)
        self.bytes = sum(part.bytes for part in parts)

    @staticmethod
    def of_pool(pool: KvPool) -> "PageLayout":
        """The layout for pages of a pool, in the order of its memory: long blocks are copied fastest."""
        parts = [
            _Part(
                (pool.page_size, shape.kv_heads, width),
                np.dtype(HOST_DTYPES[shape.stored(pool.dtype)]),
                pool.storage.by_head,
            )
            for shape in pool.shapes
            for width in shape.widths
        ]
        return PageLayout(parts)

    @staticmethod
    def of_content(content: HostContent) -> "PageLayout":
        """The layout of pages that were read."""
        return PageLayout([_Part(array.shape[1:], array.dtype) for pair in content for array in pair])

    def pack(self, content: HostContent, place: int) -> bytes:
        """The bytes of page `place` of `content`."""
        return b"".join(array[place].tobytes() for pair in content for array in pair)

    def rows(self, pages: int) -> PageRows:
        """Memory for the bytes of so many pages."""
        return np.empty((pages, self.bytes), np.uint8)

    def content(self, rows: PageRows) -> HostContent:
        """The content of pages as views of their bytes."""
        arrays: list[HostPages] = []
        start = 0
        for part in self._parts:
            arrays.append(part.of_rows(rows[:, start : start + part.bytes]))
            start += part.bytes
        return list(zip(arrays[::2], arrays[1::2], strict=True))
