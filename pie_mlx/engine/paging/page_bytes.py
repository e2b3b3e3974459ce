"""The bytes of a page, in one order for every device: by layer K then V, each [slot, head, element]."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import mlx.core as mx
import numpy as np
import numpy.typing as npt

from pie_mlx.metal.page_pool.pool import HostPages, KvPool

HostContent = Sequence[tuple[HostPages, HostPages]]
"""K and V of some pages per layer, as `KvPool.read_pages` gives them: [pages, page_size, kv_heads, head_dim]."""

_HOST_DTYPES = {mx.float32: np.float32, mx.float16: np.float16, mx.bfloat16: np.uint16}


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
        dtype = np.dtype(_HOST_DTYPES[pool.dtype])
        dims = [(shape.kv_heads, dim) for shape in pool.shapes for dim in (shape.key_dim, shape.value_dim)]
        return PageLayout([_Part((pool.page_size, *each), dtype) for each in dims])

    @staticmethod
    def of_content(content: HostContent) -> "PageLayout":
        """That of pages which were read."""
        return PageLayout([_Part(array.shape[1:], array.dtype) for pair in content for array in pair])

    def pack(self, content: HostContent, place: int) -> bytes:
        """The bytes of page `place` of `content`."""
        return b"".join(array[place].tobytes() for pair in content for array in pair)

    def unpack(self, pages: Sequence[bytes | memoryview]) -> HostContent:
        """The content of some pages, each of `bytes` bytes."""
        rows = np.frombuffer(b"".join(pages), np.uint8).reshape(len(pages), self.bytes)
        arrays: list[npt.NDArray[Any]] = []
        start = 0
        for part in self._parts:
            column = np.ascontiguousarray(rows[:, start : start + part.bytes])
            arrays.append(column.view(part.dtype).reshape(len(pages), *part.shape))
            start += part.bytes
        return list(zip(arrays[::2], arrays[1::2], strict=True))
