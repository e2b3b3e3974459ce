"""Pages: the tokens of each, the key computed from them, and segments, the edges of the prefix trie."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from struct import Struct
from typing import Any, NamedTuple

from msgspec import msgpack

from pie_mlx.errors import InvalidArgumentError


class WorkingToken(NamedTuple):
    """One token of a context with everything that its KV depends on.

    `mask` is the canonical mask (see `masks.canonical_row`), None if the token sees every earlier slot. Adapter 0 means
    no adapter, seed 0 no noise. A tuple, so that `zip` reads a page's columns at C speed.
    """

    token: int
    position: int
    mask: bytes | None = None
    adapter: int = 0
    adapter_version: int = 0
    zo_seed: int = 0


_PLAIN = (None, 0, 0, 0)

_encoder = msgpack.Encoder()
_decoder = msgpack.Decoder(list[WorkingToken])


def pack(tokens: Sequence[WorkingToken]) -> bytes:
    """The tokens of a page as bytes. Equal tokens give equal bytes, and only they.

    As objects, the tokens of a pool would take most of the engine's memory, and every full garbage collection would
    visit all of them.
    """
    return _encoder.encode(tokens)


def unpack(packed: bytes) -> list[WorkingToken]:
    """Reverses `pack`."""
    return _decoder.decode(packed)


def are_plain(tokens: Sequence[WorkingToken]) -> bool:
    """Whether no mask, adapter or noise has a part in the KV of the tokens: it is the same in every engine."""
    return all(token[2:] == _PLAIN for token in tokens)


def check_tokens(tokens: Sequence[int], vocabulary_size: int) -> None:
    """Raises InvalidArgumentError for a token id outside the vocabulary (F5)."""
    if tokens and not (min(tokens) >= 0 and max(tokens) < vocabulary_size):
        bad = next(token for token in tokens if not 0 <= token < vocabulary_size)
        raise InvalidArgumentError(
            f"token {bad}: outside the vocabulary of {vocabulary_size}", hint="use ids from the model's tokenizer"
        )


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


class IntegrityError(RuntimeError):
    """The page store contradicts itself, or a caller broke its contract: a bug in the engine."""


class Owner(NamedTuple):
    """The user and the program that something was computed for."""

    user: str = ""
    program: str = ""


NOBODY = Owner()
SYSTEM = Owner(program="the system, which was short of memory")


class KeptState:
    """A state after the first `tokens` tokens of all its holders.

    `state` is opaque here, and None once it is dropped; `spill` is its key in the spill file, None if it is not there.
    `holders` counts the pages, contexts and images that refer to it, `wanted` the images among them. Each use of it
    `saves` computing so many tokens; states of less `worth` are dropped first.
    """

    __slots__ = ("holders", "saves", "size_bytes", "spill", "state", "tokens", "uses", "wanted", "worth")

    def __init__(self, state: Any, tokens: int, size_bytes: int, saves: int) -> None:
        self.state, self.tokens, self.size_bytes, self.saves = state, tokens, size_bytes, saves
        self.spill: Any = None
        self.uses, self.worth = 1, 0.0
        self.holders = self.wanted = 0


class PageRecord:
    """The identity of one page, and the place of its content.

    `packed` are its tokens (see `pack`), `rows` their number. `page` is the physical page, None once
    reclaimed. `spill` is the key in the spill file, None if not spilled. `wanted` counts the images (off-pool contexts
    and snapshots) that need the content. `checkpoint` is the state of recurrent layers after its last token, if kept.
    It may outlive the engine for the user it is `stored_for`; None if it must not. `reused` once another context went
    on after it. `user` had it computed first. In the trie since `made_seconds` of the pool's clock.
    """

    __slots__ = (
        "checkpoint",
        "key",
        "made_seconds",
        "packed",
        "page",
        "reused",
        "rows",
        "spill",
        "stored_for",
        "user",
        "wanted",
    )

    def __init__(self, key: bytes, packed: bytes, rows: int, page: int | None, stored_for: str | None = None) -> None:
        self.key = key
        self.packed = packed
        self.rows = rows
        self.page = page
        self.user = ""
        self.spill: Any = None
        self.wanted = 0
        self.checkpoint: KeptState | None = None
        self.stored_for = stored_for
        self.reused = False
        self.made_seconds = 0.0

    @property
    def tokens(self) -> list[WorkingToken]:
        """The tokens, unpacked at each call."""
        return unpack(self.packed)


def resident_page(record: PageRecord) -> int:
    """The physical page of a record. Raises IntegrityError if the record is not in the pool."""
    if record.page is None:
        raise IntegrityError("a page without content is linked in the trie")
    return record.page


class Segment:
    """A run of pages below `parent`. All of its pages are in the pool.

    `contexts` and `snapshots` count the holders whose chain ends here plus the held children, so that holding a long
    chain touches only segments that were not held before. `listed` is False for pages that lookups must not find:
    working tails, and pages whose key belongs to other tokens. Its pages are kept until `kept_until`, in seconds of the
    pool's clock, longer than others that no context holds, and than those of a lower `kept_priority`, which is never
    above that of its parent; the last context left it at `used_seconds`. A segment without pages, except the root, was
    reclaimed; its parent takes its place.
    """

    __slots__ = (
        "children",
        "contexts",
        "holders",
        "kept_priority",
        "kept_until",
        "listed",
        "pages",
        "parent",
        "share",
        "snapshots",
        "unseen",
        "used_seconds",
    )

    def __init__(self, parent: Segment | None, pages: list[PageRecord], *, listed: bool = True) -> None:
        self.parent = parent
        self.pages = pages
        self.children: dict[bytes, Segment] = {}
        self.contexts = 0
        self.snapshots = 0
        self.listed = listed
        self.kept_until = self.kept_priority = 0.0
        self.unseen = -1
        self.holders = 0
        self.share = 0.0
        self.used_seconds = 0.0
