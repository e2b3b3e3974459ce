"""Batches of rows over different pages: gathered, and kept between steps so that only new slots are gathered again.

A mirror is a cache: it is used only if every page it was made of is unchanged but for the slots the step itself
appends, so no owner of pages has to know of it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import mlx.core as mx
import numpy as np

from pie_mlx.metal.arrays import integers
from pie_mlx.metal.pool import KvPool, page_bytes
from pie_mlx.metal.visibility import BoolArray, Run, visible

GROWTH = 256
"""Slots a mirror has room for beyond what it holds; it is gathered anew once per so many steps."""

MIRROR_BYTES = 512 << 20
"""Most bytes of all mirrors of a pool; larger batches are gathered at every step."""

IDLE_CHANGES = 8
"""Changes of the pool after which an unused mirror is dropped."""

KeysAndValues = tuple[mx.array, mx.array]
Read = Callable[[int], KeysAndValues]
Stored = Mapping[int, KeysAndValues]
"""K and V of the step's rows by layer, [rows, kv_heads, head_dim]."""


@dataclass(frozen=True, slots=True)
class Batch:
    """K and V of some runs by layer, padded to the longest, and which slots each run sees: [runs, 1, keys]."""

    read: Read
    visible: BoolArray


@dataclass(slots=True)
class Mirror:
    """Gathered K and V by layer, [rows, kv_heads, capacity, head_dim], of `tables` from page `first` on."""

    window: int | None
    first: list[int]
    tables: list[list[int]]
    lengths: list[int]
    capacity: int
    bytes: int
    used_at: int
    layers: dict[int, KeysAndValues] = field(default_factory=dict[int, KeysAndValues])


class Mirrors:
    """The mirrors of one pool. Evaluate `arrays()` at the end of each step, as those of the pool."""

    def __init__(self, pool: KvPool, limit_bytes: int = MIRROR_BYTES) -> None:
        self._pool, self._limit = pool, limit_bytes
        self._kept: list[Mirror] = []

    def arrays(self) -> list[mx.array]:
        """Every array of every mirror."""
        return [array for mirror in self._kept for pair in mirror.layers.values() for array in pair]

    def bytes(self) -> int:
        """Bytes the mirrors take."""
        return sum(mirror.bytes for mirror in self._kept)

    def read(self, runs: Sequence[Run], first: Sequence[int], window: int | None, stored: Stored) -> Batch:
        """Single-token `runs`, each from page `first` of its table on.

        When a layer is read, the pool and `stored` hold what the step writes to it.
        """
        mirror = next((kept for kept in self._kept if self._continues(kept, runs, first, window)), None)
        if mirror is not None:
            read = self._appending(mirror, runs, stored)
        else:
            mirror, read = self._gathering(runs, first, window)
        width = max(run.kv_length - start * self._pool.page_size for run, start in zip(runs, mirror.first, strict=True))
        seen = [
            visible(run, window, start * self._pool.page_size, width)
            for run, start in zip(runs, mirror.first, strict=True)
        ]
        return Batch(_once(read, width), np.stack(seen))

    def _continues(self, mirror: Mirror, runs: Sequence[Run], first: Sequence[int], window: int | None) -> bool:
        """Whether the mirror lacks exactly the last slot of each run."""
        if mirror.window != window or len(mirror.lengths) != len(runs):
            return False
        size = self._pool.page_size
        for row, run in enumerate(runs):
            start, table = mirror.first[row], mirror.tables[row]
            fits = start <= first[row] and run.kv_length - start * size <= mirror.capacity
            if window is None:
                fits = fits and start == first[row]
            if not fits or run.kv_length != mirror.lengths[row] + 1:
                return False
            if list(run.block_table[start : start + len(table)]) != table:
                return False
        pages = np.concatenate([np.asarray(table, np.int64) for table in mirror.tables])
        return bool(np.all(self._pool.changed_before(pages) <= mirror.used_at))

    def _appending(self, mirror: Mirror, runs: Sequence[Run], stored: Stored) -> Read:
        size = self._pool.page_size
        taken = integers([run.start for run in runs])
        rows = integers(np.arange(len(runs))[:, None])
        places = integers(
            [[run.kv_length - 1 - start * size] for run, start in zip(runs, mirror.first, strict=True)],
        )
        heads = mx.arange(max(shape.kv_heads for shape in self._pool.shapes), dtype=mx.int32)
        self._record(mirror, runs)

        def read(layer: int) -> KeysAndValues:
            kept = mirror.layers.get(layer)
            if kept is None:
                return self._gathered(mirror, layer)
            for array, new in zip(kept, stored[layer], strict=True):
                array[rows, heads[: array.shape[1]], places] = new if len(runs) == new.shape[0] else new[taken]
            return kept

        return read

    def _gathering(self, runs: Sequence[Run], first: Sequence[int], window: int | None) -> tuple[Mirror, Read]:
        size = self._pool.page_size
        longest = max(run.kv_length - start * size for run, start in zip(runs, first, strict=True))
        pages = -(-(longest + GROWTH) // size)
        total = page_bytes(self._pool.shapes, size, self._pool.dtype) * pages * len(runs)
        keep = self._make_room(total)
        capacity = pages * size if keep else -(-longest // size) * size
        mirror = Mirror(window, list(first), [], [], capacity, total, 0)
        self._record(mirror, runs)
        if keep:
            self._kept.append(mirror)
        return mirror, lambda layer: self._gathered(mirror, layer)

    def _gathered(self, mirror: Mirror, layer: int) -> KeysAndValues:
        pages = np.empty((len(mirror.tables), mirror.capacity // self._pool.page_size), np.int32)
        for row, table in enumerate(mirror.tables):
            pages[row, : len(table)] = table
            # Padding repeats a page of the run itself: what others hold must not reach it, not even times zero.
            pages[row, len(table) :] = table[-1]
        mirror.layers[layer] = self._pool.gather(layer, integers(pages))
        return mirror.layers[layer]

    def _record(self, mirror: Mirror, runs: Sequence[Run]) -> None:
        size = self._pool.page_size
        mirror.lengths = [run.kv_length for run in runs]
        mirror.tables = [
            list(run.block_table[start : -(-run.kv_length // size)])
            for run, start in zip(runs, mirror.first, strict=True)
        ]
        mirror.used_at = self._pool.clock

    def _make_room(self, wanted: int) -> bool:
        """Drop idle mirrors, and others that this step has not used if need be; whether `wanted` bytes fit then."""
        now = self._pool.clock
        self._kept = [mirror for mirror in self._kept if now - mirror.used_at <= IDLE_CHANGES]
        for mirror in sorted(self._kept, key=lambda one: one.used_at):
            if self.bytes() + wanted > self._limit and mirror.used_at < now:
                self._kept.remove(mirror)
        return self.bytes() + wanted <= self._limit


def _once(read: Read, width: int) -> Read:
    """`read` cut to `width` slots; a layer that is read again in the same step gets the same arrays."""
    done: dict[int, KeysAndValues] = {}

    def cut(layer: int) -> KeysAndValues:
        if layer not in done:
            keys, values = read(layer)
            done[layer] = keys[:, :, :width], values[:, :, :width]
        return done[layer]

    return cut
