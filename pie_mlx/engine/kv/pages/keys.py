"""Page keys: a chained 128-bit BLAKE2b hash of everything that a page's KV depends on."""

from collections.abc import Sequence
from hashlib import blake2b
from struct import Struct

from pie_mlx.engine.kv.pages.working_token import WorkingToken

NO_PAGE = bytes(16)
"""The key before the first page."""

_LENGTH = Struct("<q")
_NO_MASK = _LENGTH.pack(-1)
_MOST_KEPT = 1024


class PageHasher:
    """Computes the keys of one model's pages.

    `identity` stands for the model's configuration, weights, quantisation and KV dtype; `page_size` is in tokens. A
    page is hashed column by column: ids, positions, adapters, versions, seeds and masks of its tokens. Each column and
    mask is preceded by its length.
    """

    def __init__(self, identity: bytes, page_size: int) -> None:
        self._header = _LENGTH.pack(len(identity)) + identity + _LENGTH.pack(page_size)
        self._page_size = page_size
        self._two_columns = Struct("<" + f"q{page_size}q" * 2)
        self._three_columns = Struct("<" + f"q{page_size}q" * 3)
        self._unmasked = _LENGTH.pack(page_size) + _NO_MASK * page_size
        self._uniform: dict[tuple[int, int, int], bytes] = {}

    def key(self, parent: bytes, tokens: Sequence[WorkingToken]) -> bytes:
        """The key of the page that holds `tokens`, exactly one page, and follows the page with key `parent`."""
        size = self._page_size
        ids, positions, masks, *origins = zip(*tokens, strict=True)
        numbers = self._two_columns.pack(size, *ids, size, *positions)
        unmasked = masks.count(None) == size
        rows = self._unmasked if unmasked else _LENGTH.pack(size) + b"".join(map(_row, masks))
        return blake2b(parent + self._header + numbers + self._origins(origins) + rows, digest_size=16).digest()

    def tail_key(self, parent: bytes, packed: bytes) -> bytes:
        """The key of a page that is not committed, full or not, with these packed tokens. No committed one has it."""
        return blake2b(parent + self._header + packed, digest_size=16, person=b"tail").digest()

    def _origins(self, columns: list[tuple[int, ...]]) -> bytes:
        """Bytes for adapters, versions and seeds. Cached, since nearly every page has one value of each."""
        size = self._page_size
        adapters, versions, seeds = columns
        adapter, version, seed = adapters[0], versions[0], seeds[0]
        if adapters.count(adapter) != size or versions.count(version) != size or seeds.count(seed) != size:
            return self._three_columns.pack(size, *adapters, size, *versions, size, *seeds)
        packed = self._uniform.get((adapter, version, seed))
        if packed is None:
            if len(self._uniform) >= _MOST_KEPT:
                self._uniform.clear()
            packed = self._three_columns.pack(size, *adapters, size, *versions, size, *seeds)
            self._uniform[adapter, version, seed] = packed
        return packed


def _row(mask: bytes | None) -> bytes:
    return _NO_MASK if mask is None else _LENGTH.pack(len(mask)) + mask
