"""The bytes of a page, in one order for every device: by layer K then V, each [slot, head, element or word]."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pie_mlx.metal.page_pool.pool import HostContent, KvPool
from pie_mlx.metal.page_pool.shapes import HOST_DTYPES

PageRows = npt.NDArray[np.uint8]
"""The bytes of some pages, one page a row."""


class _Part(NamedTuple):
    """K or V of one layer within a page."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    @property
    def bytes(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64)) * self.dtype.itemsize


class PageLayout:
    """Where K and V of each layer lie in the `bytes` of a page."""

    def __init__(self, parts: Sequence[_Part]) -> None:
        self._parts = tuple(parts)
        self.bytes = sum(part.bytes for part in parts)

    @staticmethod
    def of_pool(pool: KvPool) -> "PageLayout":
        """That of the pages of a pool."""
        parts = [
            _Part((pool.page_size, shape.kv_heads, width), np.dtype(HOST_DTYPES[shape.stored(pool.dtype)]))
            for shape in pool.shapes
            for width in shape.widths
        ]
        return PageLayout(parts)

    @staticmethod
    def of_content(content: HostContent) -> "PageLayout":
        """That of pages which were read."""
        return PageLayout([_Part(array.shape[1:], array.dtype) for pair in content for array in pair])

    def pack(self, content: HostContent, place: int) -> bytes:
        """The bytes of page `place` of `content`."""
        return b"".join(array[place].tobytes() for pair in content for array in pair)

    def rows(self, pages: int) -> PageRows:
        """Memory for the bytes of so many pages."""
        return np.empty((pages, self.bytes), np.uint8)

    def content(self, rows: PageRows) -> HostContent:
        """The content of pages as views of their bytes."""
        arrays: list[npt.NDArray[Any]] = []
        start = 0
        for part in self._parts:
            arrays.append(rows[:, start : start + part.bytes].view(part.dtype).reshape(len(rows), *part.shape))
            start += part.bytes
        return list(zip(arrays[::2], arrays[1::2], strict=True))
