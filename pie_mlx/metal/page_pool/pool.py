"""The memory of the KV pages: one array per layer for K and one for V, allocated once, written in place; and the row
batches that are kept from step to step."""

import logging
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import mlx.core as mx
import numpy as np
import numpy.typing as npt

from pie_mlx.metal.arrays import evaluate, from_host, host_view, index_of, integers, shares_memory, to_host
from pie_mlx.metal.batches import RowBatches
from pie_mlx.metal.faults import one_line, passes
from pie_mlx.metal.numerics import Numerics
from pie_mlx.metal.page_pool.shapes import HOST_DTYPES, LayerShape, page_bytes
from pie_mlx.metal.page_pool.storage import HostPages, SlotMajor, Storage

_log = logging.getLogger(__name__)

HostContent = Sequence[tuple[HostPages, HostPages]]
"""K and V of some pages per layer, as they are stored."""

KeysAndValues = tuple[mx.array, mx.array]


class SlotWrite:
    """Destination of the token rows of one step: physical slots (page * page_size + offset), one per row."""

    __slots__ = ("index", "slots")

    def __init__(self, slots: Sequence[int]) -> None:
        self.slots = np.asarray(slots, np.int64)
        self.index = index_of(self.slots)


class KvPool:
    """K and V of every slot of every layer. Knows page ids only.

    Readers get elements of the pool's type, decoded from words where a layer is quantised. Each row is quantised alone
    when it is written, and attention sees it so from its own step on: nothing depends on how a text is divided.

    Writes are in place as long as no view is kept across steps. A step writes each array at most once, before it reads
    it, and ends by evaluating its outputs and `arrays()`. `changed_before` tells holders of copies when pages changed;
    `clock` counts changes.

    `evaluated` is False while a step is built after one that is still computed: then the host must not read the memory,
    and no part of the new step begins. With `ordered` pools such a step may begin at once. In others, a write that
    begins before the previous step has read would copy the whole array.
    """

    ordered = False
    numerics = Numerics()

    def __init__(
        self,
        shapes: Sequence[LayerShape],
        *,
        pages: int,
        page_size: int,
        dtype: mx.Dtype,
        storage: Storage | None = None,
        arrays: Sequence[mx.array] = (),
    ) -> None:
        """Starts with zeros, or takes over the `arrays` of another pool of these sizes and storage."""
        self.shapes = tuple(shapes)
        self.is_quantised = any([shape.quantisation is not None for shape in self.shapes])
        """Whether reading pages in MLX operations decodes them."""
        self.pages, self.page_size, self.dtype = pages, page_size, dtype
        self.storage = storage or SlotMajor()
        self.evaluated = True
        self.clock = 0
        self._changed_at, self._changed_before = np.zeros((2, pages), np.int64)
        slots = pages * page_size
        held: Sequence[mx.array] = arrays or [
            self.storage.empty(slots, shape.kv_heads, width, shape.stored(dtype))
            for shape in self.shapes
            for width in shape.widths
        ]
        self._keys, self._values = list(held[::2]), list(held[1::2])
        evaluate(self._keys, self._values)

    def arrays(self) -> list[mx.array]:
        """Every array of the pool, K and V by layer. Evaluate them at the end of each step, and keep none."""
        return [array for pair in zip(self._keys, self._values, strict=True) for array in pair]

    def revision(self, layers: range) -> Callable[[], None]:
        """Returns a function that restores the present state of `layers`. Release it before the next evaluation: arrays
        that are still held cannot be written in place."""
        held = [(array, array[...]) for layer in layers for array in (self._keys[layer], self._values[layer])]

        def restore() -> None:
            for array, before in held:
                array[...] = before
            held.clear()

        return restore

    def recover(self) -> None:
        """Drops pending writes of a step that failed while it was computed."""

    @property
    def latent(self) -> bool:
        """Whether the layers are latent: those of a model are all alike."""
        return any(shape.latent for shape in self.shapes)

    @property
    def takes_segments(self) -> bool:
        """Whether the caller may begin parts of a step while it builds the rest. False if the pool begins them
        itself."""
        return self.evaluated

    def gathers(self, rows: int) -> bool:
        """Whether attention of `rows` rows of one context copies its pages."""
        return True

    def await_release(self) -> None:
        """Waits until MLX has released what was evaluated, before the next write to the pool is evaluated.

        On a GPU, MLX's completion handlers hold inputs slightly longer than the wait for results takes. A held array
        would be copied before the write.
        """
        mx.synchronize()

    def batches(self) -> RowBatches:
        """The batches that read rows of this pool side by side."""
        return RowBatches(self.page_size, self.gather)

    def suspects(self, error: Exception) -> frozenset[str]:
        """Kernels of this pool that may have caused `error`."""
        del error
        return frozenset()

    def without(self, kernels: Collection[str]) -> "KvPool":
        """A pool over the same pages without these kernels."""
        del kernels
        return self

    def bytes(self) -> int:
        """Bytes allocated."""
        return page_bytes(self.shapes, self.page_size, self.dtype) * self.pages

    def begin_write(self, write: SlotWrite) -> None:
        """Announces the pages that a step writes, once, before its first layer."""
        self._changed(write.slots // self.page_size)

    def changed_before(self, pages: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """The clock at the last change of each page before this step."""
        latest = self._changed_at[pages]
        return np.where(latest == self.clock, self._changed_before[pages], latest)

    def changed_at(self, pages: Sequence[int]) -> list[int]:
        """The clock at the last change of each page: as long as it is the same, so is the content."""
        return self._changed_at[list(pages)].tolist()

    def write(self, layer: int, keys: mx.array, values: mx.array, write: SlotWrite) -> KeysAndValues:
        """Store `keys` [rows, kv_heads, key_dim] and `values` [rows, kv_heads, value_dim]; K is already rotated.

        Returns what attention sees of them.
        """
        seen = keys.astype(self.dtype), values.astype(self.dtype)
        kind = self.shapes[layer].quantisation
        stored = seen
        if kind is not None:
            stored = _together(seen, kind.encode)
            seen = _together(stored, lambda words: kind.decode(words, self.dtype))
        self.storage.put(self._keys[layer], stored[0], write.index)
        self.storage.put(self._values[layer], stored[1], write.index)
        return seen

    def rows(self, layer: int, slots: mx.array) -> KeysAndValues:
        """K and V of `slots` int32 [n], [n, kv_heads, head_dim]."""
        pair = self.storage.rows(self._keys[layer], slots), self.storage.rows(self._values[layer], slots)
        return self._decoded(layer, pair) if self.is_quantised else pair

    def span(self, layer: int, start: int, stop: int) -> KeysAndValues:
        """K and V of the slots `start` .. `stop` [1, kv_heads, n, head_dim], as views if they are not quantised; use
        them within the step."""
        pair = self.storage.span(self._keys[layer], start, stop), self.storage.span(self._values[layer], start, stop)
        return self._decoded(layer, pair) if self.is_quantised else pair

    def gather(self, layer: int, pages: mx.array) -> KeysAndValues:
        """K and V of `pages` int32 [b, n], [b, kv_heads, n * page_size, head_dim]."""
        storage, size = self.storage, self.page_size
        pair = storage.pages(self._keys[layer], pages, size), storage.pages(self._values[layer], pages, size)
        return self._decoded(layer, pair) if self.is_quantised else pair

    def _decoded(self, layer: int, pair: KeysAndValues) -> KeysAndValues:
        """The elements of words of a layer, which are its elements if it is not quantised."""
        kind, (keys, values) = self.shapes[layer].quantisation, pair
        return pair if kind is None else (kind.decode(keys, self.dtype), kind.decode(values, self.dtype))

    def copy_pages(self, copies: Sequence[tuple[int, int, int]]) -> None:
        """Copies the first `rows` slots of page `source` to page `target` for each (source, target, rows), in order."""
        for independent in _rounds(copies):
            self._copy_round(independent)

    def read_pages(self, pages: Sequence[int], into: HostContent | None = None) -> HostContent:
        """K and V of `pages` per layer, on the host; in the arrays of `into`, if there are any."""
        if not shares_memory(self.dtype):
            found = self._read_on_device(pages)
            for target, source in zip(_flat(into), _flat(found), strict=True) if into is not None else ():
                target[...] = source
            return found if into is None else into
        content = into if into is not None else self._empty(len(pages))
        for target, own in zip(_flat(content), self._host_pages(), strict=True):
            for place, page, count in _neighbours(pages):
                target[place : place + count] = own[page : page + count]
        return content

    def write_pages(self, pages: Sequence[int], content: HostContent) -> None:
        """Stores what `read_pages` returned in `pages`, which may be other pages. Keeps none of `content`."""
        if not shares_memory(self.dtype):
            self._write_on_device(pages, content)
            return
        for own, source in zip(self._host_pages(), _flat(content), strict=True):
            for place, page, count in _neighbours(pages):
                own[page : page + count] = source[place : place + count]
        self._changed(pages)

    def _host_pages(self) -> list[HostPages]:
        """The memory of all pages, K and V by layer. Drop it before the next step."""
        held = self.arrays()
        evaluate(held)
        return [self.storage.host_pages(host_view(array), self.page_size) for array in held]

    def _empty(self, pages: int) -> HostContent:
        def empty(shape: LayerShape, width: int) -> HostPages:
            size = (pages, self.page_size, shape.kv_heads, width)
            return np.empty(size, HOST_DTYPES[shape.stored(self.dtype)])

        return [(empty(shape, shape.widths[0]), empty(shape, shape.widths[1])) for shape in self.shapes]

    def _read_on_device(self, pages: Sequence[int]) -> HostContent:
        slots = integers(self._slots([(page, self.page_size) for page in pages]))
        taken = [self.storage.rows(array, slots) for array in self.arrays()]
        evaluate(taken)
        paged = [self._paged(rows) for rows in taken]
        return list(zip(paged[::2], paged[1::2], strict=True))

    def _write_on_device(self, pages: Sequence[int], content: HostContent) -> None:
        index = integers(self._slots([(page, self.page_size) for page in pages]))
        for layer, (keys, values) in enumerate(content):
            self.storage.put(self._keys[layer], self._rows_of(keys), index)
            self.storage.put(self._values[layer], self._rows_of(values), index)
        self._changed(pages)
        self.await_release()
        evaluate(self.arrays())

    @property
    def returns_memory(self) -> bool:
        """Whether `discard` returns memory. False for a GPU, whose memory is one block."""
        return False

    def discard(self, pages: Sequence[int]) -> int:
        """Returns the memory of pages, whose content is lost, to the system. Returns the bytes freed."""
        del pages
        return 0

    def _copy_round(self, copies: Sequence[tuple[int, int, int]]) -> None:
        source = integers(self._slots([(page, rows) for page, _, rows in copies]))
        target = integers(self._slots([(page, rows) for _, page, rows in copies]))
        if not source.size:
            return
        arrays = self.arrays()
        taken = [self.storage.rows(array, source) for array in arrays]
        evaluate(taken)  # reading and writing one array in the same evaluation would copy the whole pool
        self.await_release()
        for array, rows in zip(arrays, taken, strict=True):
            self.storage.put(array, rows, target)
        self._changed([page for _, page, _ in copies])
        evaluate(arrays)

    def _changed(self, pages: Sequence[int] | npt.NDArray[np.int64]) -> None:
        index = np.asarray(pages, np.int64)
        self.clock += 1
        self._changed_before[index] = self._changed_at[index]
        self._changed_at[index] = self.clock

    def _slots(self, pages: Iterable[tuple[int, int]]) -> npt.NDArray[np.int32]:
        """Physical slots of the first `rows` slots of each page."""
        size = self.page_size
        spans = [np.arange(page * size, page * size + rows, dtype=np.int32) for page, rows in pages]
        return np.concatenate(spans) if spans else np.zeros(0, np.int32)

    def _paged(self, rows: mx.array) -> HostPages:
        return to_host(mx.unflatten(rows, 0, (-1, self.page_size)))

    def _rows_of(self, content: HostPages) -> mx.array:
        array = from_host(np.ascontiguousarray(content)).flatten(0, 1)
        return array.view(mx.bfloat16) if array.dtype == mx.uint16 else array


@dataclass(slots=True)
class PageMemory:
    """A page pool and its row batches, the memory under attention plans. Evaluate `arrays()` after every step."""

    pool: KvPool
    batches: RowBatches = field(init=False)

    def __post_init__(self) -> None:
        self.batches = self.pool.batches()

    def arrays(self) -> list[mx.array]:
        """Every array that a step may write."""
        return self.pool.arrays() + self.batches.arrays()

    def revision(self, layers: range) -> "Revision":
        """Records the present arrays of `layers`, to restore them later."""
        return Revision(self.pool.revision(layers), [(array, array[...]) for array in self.batches.arrays(layers)])

    def recover(self) -> None:
        """Drops pending writes of a step that failed while it was computed."""
        self.pool.recover()

    def mend(self, error: Exception) -> bool:
        """Returns whether to retry what failed with `error`.

        Disables the kernels that may have caused it, and logs one line. The pages keep what was computed before.
        """
        condemned = self.pool.suspects(error)
        if not condemned and not passes(error):
            return False
        self.recover()
        if condemned:
            self.pool = self.pool.without(condemned)
            self.batches = self.pool.batches()
            names, why = ", ".join(sorted(condemned)), one_line(error)
            _log.warning("metal: MLX operations are used instead of %s until the next start: %s", names, why)
        return True


@dataclass(slots=True)
class Revision:
    """The earlier arrays of a memory, kept while a step is built that may never be computed.

    Release it before that step is evaluated: arrays that are still held cannot be written in place.
    """

    _restore_pool: Callable[[], None]
    _rows: list[tuple[mx.array, mx.array]]

    def restore(self) -> None:
        """Discards what was built since."""
        self._restore_pool()
        for array, before in self._rows:
            array[...] = before
        self._rows.clear()


def _rounds(copies: Sequence[tuple[int, int, int]]) -> list[list[tuple[int, int, int]]]:
    """Divides the copies so that within a part no page is written twice, or read after it is written."""
    rounds: list[list[tuple[int, int, int]]] = []
    written: set[int] = set()
    for copy in copies:
        source, target, _ = copy
        if not rounds or source in written or target in written:
            rounds.append([])
            written = set()
        rounds[-1].append(copy)
        written.add(target)
    return rounds


def _together(pair: KeysAndValues, change: Callable[[mx.array], mx.array]) -> KeysAndValues:
    """`change` of keys and of values [rows, kv_heads, dim], at once if they have one size."""
    keys, values = pair
    if keys.shape != values.shape:
        return change(keys), change(values)
    both, heads = change(mx.concatenate([keys, values], axis=1)), keys.shape[1]
    return both[:, :heads], both[:, heads:]


def _flat(content: HostContent) -> list[HostPages]:
    return [array for pair in content for array in pair]


def _neighbours(pages: Sequence[int]) -> list[tuple[int, int, int]]:
    """The pages as runs: the place of the first in `pages`, the first page, and how many."""
    cuts = [place for place, page in enumerate(pages) if not place or page != pages[place - 1] + 1]
    return [(start, pages[start], stop - start) for start, stop in pairwise([*cuts, len(pages)])]
