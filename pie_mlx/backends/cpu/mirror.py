"""Mirrors: the pages of a batch copied side by side and kept, so that each step appends one slot per row.

A mirror is a cache. It trusts a row only while the row's pages are unchanged since they were copied, so page owners
need not know about it. Rows come and go one by one. The host, never the device, copies what is missing.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import mlx.core as mx
import numpy as np
import numpy.typing as npt

from pie_mlx.backends.cpu.storage import put_rows
from pie_mlx.metal.arrays import evaluate, host_view, index_of, integers
from pie_mlx.metal.batches import (
    IDLE,
    Batch,
    BatchRequest,
    HostViews,
    KeysAndValues,
    RowBatches,
    Stored,
    UnevaluatedError,
    once,
)
from pie_mlx.metal.page_pool.pool import HostPages, KvPool
from pie_mlx.metal.page_pool.shapes import page_bytes
from pie_mlx.metal.quantisation import Quantisation
from pie_mlx.metal.runs import BoolArray, Run, visible

GROWTH = 256
"""Spare slots of a new mirror: it is rebuilt once per this many steps."""

MIRROR_BYTES = 512 << 20
"""Most bytes of all mirrors of a pool. Larger batches are gathered at every step."""

IDLE_CHANGES = 8
"""Pool changes after which an unused mirror is dropped."""

MOST_IDLE = 0.25
"""Share of a mirror's rows that may stay idle in case their contexts return. Beyond it, rows are compacted."""


@dataclass(slots=True)
class Row:
    """The content of a row: the first `valid` slots of `table`, whose first entry is page number `first`, as of pool
    clock `used_at`."""

    context: int
    first: int = 0
    table: list[int] = field(default_factory=list[int])
    valid: int = 0
    used_at: int = 0


@dataclass(frozen=True, slots=True)
class Fill:
    """Slots `start` .. `stop` of a row to copy from the pages `table`, the first of which holds the row's first
    slot."""

    row: int
    table: Sequence[int]
    start: int
    stop: int


@dataclass(slots=True)
class Mirror:
    """K and V by layer, [room, kv_heads, capacity, head_dim], for runs that share `key`. `rows` are in use."""

    key: tuple[int | None, int | None]
    room: int
    capacity: int
    bytes: int
    used_at: int = 0
    rows: list[Row] = field(default_factory=list[Row])
    layers: dict[int, KeysAndValues] = field(default_factory=dict[int, KeysAndValues])


class Mirrors(RowBatches):
    """The mirrors of one pool, read by `host_views`."""

    def __init__(self, pool: KvPool, host_views: Callable[[], HostViews]) -> None:
        super().__init__(pool.page_size, pool.gather)
        self._pool, self._host_views = pool, host_views
        self._kept: list[Mirror] = []

    def arrays(self, layers: range | None = None) -> list[mx.array]:
        """Every array of every mirror, or those of `layers`."""
        pairs = (item for mirror in self._kept for item in mirror.layers.items())
        return [array for layer, pair in pairs if layers is None or layer in layers for array in pair]

    def before_step(self) -> HostViews:
        """The source that rows are filled from."""
        return self._host_views()

    def bytes(self) -> int:
        """Bytes the mirrors take."""
        return sum(mirror.bytes for mirror in self._kept)

    def read(self, request: BatchRequest, stored: Stored) -> Batch:
        """The batch, read from mirrors unless they would need too much memory."""
        size = self._pool.page_size
        pairs = list(zip(request.runs, request.first, strict=True))
        mirror = self._mirror(request, max(run.kv_length - start * size for run, start in pairs))
        if mirror is None:
            return super().read(request, stored)
        numbers = _rows_of(mirror, request.runs)
        known = self._known(mirror)
        fills = [
            self._continued(mirror, number, run, start, known[number])
            for number, (run, start) in zip(numbers, pairs, strict=True)
        ]
        mirror.used_at = self._pool.clock
        if not self._pool.evaluated and (not mirror.layers or any(map(_is_lacking, fills))):
            for fill in fills:
                mirror.rows[fill.row].valid = fill.start
            raise UnevaluatedError
        batch_rows = BatchRows(mirror, self._pool, request, numbers, fills)
        return Batch(once(lambda layer: batch_rows.read(layer, stored[layer])), batch_rows.visible(), batch_rows.order)

    def _mirror(self, request: BatchRequest, longest: int) -> Mirror | None:
        key, rows = (request.window, request.prefix), len(request.runs)
        old = next((kept for kept in self._kept if kept.key == key), None)
        if old is not None and longest <= old.capacity and rows <= old.room:
            return old
        if old is not None:
            self._kept.remove(old)
        room = rows if old is None else max(old.room, rows + rows // 4)
        pages = -(-(longest + GROWTH) // self._pool.page_size)
        shapes = [shape.unquantised for shape in self._pool.shapes]
        total = page_bytes(shapes, self._pool.page_size, self._pool.dtype) * pages * room
        if not self._make_room(total):
            return None
        self._kept.append(Mirror(key, room, pages * self._pool.page_size, total))
        return self._kept[-1]

    def _known(self, mirror: Mirror) -> list[int]:
        """How many leading pages of each row are unchanged since its last use."""
        counts = [len(row.table) for row in mirror.rows]
        if all(row.used_at >= self._pool.clock - 1 for row in mirror.rows):  # unchanged, except by this step
            return counts
        pages = np.concatenate([np.asarray(row.table, np.int64) for row in mirror.rows])
        used_at = np.repeat(np.asarray([row.used_at for row in mirror.rows], np.int64), counts)
        changed = self._pool.changed_before(pages) > used_at
        if not changed.any():
            return counts
        parts = np.split(changed, np.cumsum(counts)[:-1])
        return [int(part.argmax()) if part.any() else len(part) for part in parts]

    def _continued(self, mirror: Mirror, number: int, run: Run, first: int, known: int) -> Fill:
        """Records that the row holds the run from this step on. Returns the slots it lacks, besides the step's own
        slot."""
        size, row = self._pool.page_size, mirror.rows[number]
        beyond = run.kv_length - row.first * size > mirror.capacity
        if beyond or row.first > first or (mirror.key[0] is None and row.first != first):
            row.first, row.valid = first, 0
        table = list(run.block_table[row.first : -(-run.kv_length // size)])
        same = known if row.table[:known] == table[:known] else _common(row.table[:known], table)
        own = run.kv_length - 1 - row.first * size
        fill = Fill(number, table, min(row.valid, own, same * size), own)
        row.table, row.valid, row.used_at = table, own + 1, self._pool.clock
        return fill

    def _make_room(self, wanted: int) -> bool:
        """Drops idle mirrors and, if needed, others that this step does not use. Returns whether `wanted` bytes fit."""
        now = self._pool.clock
        self._kept = [mirror for mirror in self._kept if now - mirror.used_at <= IDLE_CHANGES]
        for mirror in sorted(self._kept, key=lambda one: one.used_at):
            if self.bytes() + wanted > MIRROR_BYTES and mirror.used_at < now:
                self._kept.remove(mirror)
        return self.bytes() + wanted <= MIRROR_BYTES


class BatchRows:
    """The rows of a mirror in one step: the host fills in what they lack, the device appends what the step stores.

    `order` gives the index of each row's run, or IDLE.
    """

    def __init__(
        self, mirror: Mirror, pool: KvPool, request: BatchRequest, numbers: Sequence[int], fills: list[Fill]
    ) -> None:
        self._mirror, self._pool, self._request, self._fills = mirror, pool, request, fills
        self._row_numbers = np.asarray(numbers, np.int64)
        self._starts = [mirror.rows[number].first * pool.page_size for number in numbers]
        self._places = np.asarray([run.kv_length - 1 for run in request.runs], np.int64) - np.asarray(self._starts)
        self._width = int(self._places.max()) + 1
        self.order = [IDLE] * len(mirror.rows)
        for index, number in enumerate(numbers):
            self.order[number] = index
        self._index: dict[int, mx.array | slice] = {}
        rows = [run.start for run in request.runs]
        self._taken = None if rows == list(range(request.step_rows)) else integers(rows)

    def visible(self) -> BoolArray:
        """Which slots each row sees, [rows, 1, slots]. An idle row sees everything."""
        last = np.full(len(self.order), self._width)
        last[self._row_numbers] = self._places
        slot = np.arange(self._width)
        seen = slot <= last[:, None]
        if self._request.window is not None:
            seen[self._row_numbers] &= slot > (self._places - self._request.window)[:, None]
        for number, run, start in zip(self._row_numbers, self._request.runs, self._starts, strict=True):
            if run.masks is not None:
                seen[number] = visible(run, self._request.window, start, self._width)
        return seen[:, None]

    def read(self, layer: int, stored: KeysAndValues) -> KeysAndValues:
        """K and V of all rows, [rows, kv_heads, slots, head_dim], with what the step stores."""
        shape = (self._mirror.room, self._pool.shapes[layer].kv_heads, self._mirror.capacity)
        kept = self._filled(layer, shape)
        for array, new in zip(kept, stored, strict=True):
            chosen = new if self._taken is None else new[self._taken]
            put_rows(array, self._places_of(shape[1]), chosen.flatten(0, 1).astype(array.dtype), axis=0)
        keys, values = (mx.unflatten(array, 0, shape)[: len(self.order), :, : self._width] for array in kept)
        return keys, values

    def _places_of(self, heads: int) -> mx.array | slice:
        """Flat indices of the runs' new slots in arrays of `heads` KV heads, [runs * heads]."""
        if heads not in self._index:
            head = self._row_numbers[:, None] * heads + np.arange(heads)
            self._index[heads] = index_of((head * self._mirror.capacity + self._places[:, None]).reshape(-1))
        return self._index[heads]

    def _filled(self, layer: int, shape: tuple[int, int, int]) -> KeysAndValues:
        """The arrays of a layer, flat [rows * heads * capacity, head_dim], complete except for the runs' new slots."""
        fills = self._fills
        if layer not in self._mirror.layers:
            if not self._pool.evaluated:
                raise UnevaluatedError
            self._mirror.layers[layer] = self._empty(layer)
            fills = [replace(fill, start=0) for fill in fills]
        kept = self._mirror.layers[layer]
        lacking = [fill for fill in fills if _is_lacking(fill)]
        if lacking:
            kind = self._pool.shapes[layer].quantisation
            for array, source in zip(kept, self._request.before[layer], strict=True):
                self._fill(host_view(array).reshape(*shape, -1), source, lacking, kind)
        return kept

    def _empty(self, layer: int) -> KeysAndValues:
        """Zeros for a layer of all rows. Flat, because scattering with one index is several times faster than with
        three."""
        shape = self._pool.shapes[layer]
        rows = self._mirror.room * shape.kv_heads * self._mirror.capacity
        pair = mx.zeros((rows, shape.key_dim), self._pool.dtype), mx.zeros((rows, shape.value_dim), self._pool.dtype)
        evaluate(pair)
        for row, run in zip(self._mirror.rows, self.order, strict=True):
            row.valid = 0 if run == IDLE else row.valid
        return pair

    def _fill(self, target: HostPages, source: HostPages, fills: Sequence[Fill], kind: Quantisation | None) -> None:
        for fill in fills:
            if fill.start == 0:
                # Clear what the row held for another run: it must not reach this one, not even multiplied by zero.
                target[fill.row, :, fill.stop :] = 0
            if fill.start < fill.stop:
                taken = source[:, _slots(fill, self._pool.page_size)]
                decoded = taken if kind is None else kind.decode_on_host(taken, self._pool.dtype)
                target[fill.row, :, fill.start : fill.stop] = decoded


def _is_lacking(fill: Fill) -> bool:
    return fill.start == 0 or fill.start < fill.stop


def _slots(fill: Fill, page_size: int) -> slice | npt.NDArray[np.int64]:
    """The pool slots of a fill: a slice if its pages are neighbours."""
    places = np.arange(fill.start, fill.stop)
    slots = np.asarray(fill.table, np.int64)[places // page_size] * page_size + places % page_size
    if slots[-1] - slots[0] == len(slots) - 1 and (np.diff(slots) == 1).all():
        return slice(int(slots[0]), int(slots[-1]) + 1)
    return slots


def _rows_of(mirror: Mirror, runs: Sequence[Run]) -> list[int]:
    """The row of each run: its old row, an idle one, or a new one at the end. Idle rows above MOST_IDLE are removed."""
    rows = mirror.rows
    held = {row.context: number for number, row in enumerate(rows)}
    taken = {held[run.context] for run in runs if run.context in held}
    idle = [number for number in range(len(rows)) if number not in taken]
    for run in runs:
        if run.context in held:
            continue
        if idle:
            held[run.context] = idle.pop(0)
            rows[held[run.context]] = Row(run.context)
        else:
            held[run.context] = len(rows)
            rows.append(Row(run.context))
    if len(idle) > MOST_IDLE * len(rows):
        kept = [number for number in range(len(rows)) if number not in idle]
        mirror.rows = [rows[number] if number == new else Row(rows[number].context) for new, number in enumerate(kept)]
        held = {row.context: number for number, row in enumerate(mirror.rows)}
    return [held[run.context] for run in runs]


def _common(left: Sequence[int], right: Sequence[int]) -> int:
    """How many leading elements are the same."""
    differing = (index for index, (a, b) in enumerate(zip(left, right, strict=False)) if a != b)
    return next(differing, min(len(left), len(right)))
